const little = (value: number, bytes: number) =>
  Array.from({ length: bytes }, (_, i) => Math.floor(value / 256 ** i) % 256)

/** Returns an archive of files by their names. Like a streaming archiver it leaves the first sizes out. */
export async function zipOf(
  files: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>,
  { method = 8 } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const [contents, entries]: number[][] = [[], []]
  for (const [file, text] of Object.entries(files)) {
    const stream = new Blob([text]).stream()
    const packed = method === 8 ? stream.pipeThrough(new CompressionStream('deflate-raw')) : stream
    const content = [...new Uint8Array(await new Response(packed).arrayBuffer())]
    const name = [...new TextEncoder().encode(file)]
    const shared = [...little(20, 2), ...little(8, 2), ...little(method, 2), ...little(0, 4)]
    const sizes = [...little(0, 4), ...little(content.length, 4), ...little(text.length, 4)]
    const at = little(contents!.length, 4)
    contents!.push(...little(0x04034b50, 4), ...shared, ...little(0, 12))
    contents!.push(...little(name.length, 2), ...little(0, 2), ...name)
    for (const byte of content) contents!.push(byte)
    entries!.push(...little(0x02014b50, 4), ...little(20, 2), ...shared, ...sizes)
    entries!.push(...little(name.length, 2), ...little(0, 12), ...at, ...name)
  }
  const count = little(Object.keys(files).length, 2)
  const end = [...little(0x06054b50, 4), ...little(0, 4), ...count, ...count]
  const where = [...little(entries!.length, 4), ...little(contents!.length, 4), ...little(0, 2)]
  return Uint8Array.from([...contents!, ...entries!, ...end, ...where])
}
