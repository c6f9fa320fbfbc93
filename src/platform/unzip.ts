// ZIP archives: the ECB publishes its rates so, and some banks their statements.

/** A file that cannot be read. Its message quotes nothing of the file. */
export class FileFailure extends Error {
  override name = 'FileFailure'
}

/**
 * Reads a stream of at most `max` bytes.
 *
 * @throws FileFailure: an archive of a few bytes can have a file of any size.
 */
export async function readBytes(
  stream: ReadableStream<Uint8Array>,
  max: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream) {
    size += chunk.byteLength
    if (size > max) throw new FileFailure(`more than ${max} bytes`)
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}

/** The signatures and lengths of the records of an archive. */
const FILE = { signature: 0x04034b50, bytes: 30 }
const ENTRY = { signature: 0x02014b50, bytes: 46 }
const END = { signature: 0x06054b50, bytes: 22 }

const STORED = 0
const DEFLATED = 8

/** Returns whether bytes begin like a ZIP archive. */
export const isZip = (bytes: Uint8Array) =>
  bytes.byteLength >= 4 && viewOf(bytes).getUint32(0, true) === FILE.signature

/**
 * Returns functions that return the content of each file of a ZIP archive without a comment.
 *
 * @see [APPNOTE.TXT §4.3](https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT)
 * @throws RangeError if the archive is cut off, or a file is compressed in another way.
 */
export function unzip(bytes: Uint8Array<ArrayBuffer>): (() => ReadableStream<Uint8Array>)[] {
  const view = viewOf(bytes)
  // The sizes in the header before the file may be missing; those at the end of the archive never are.
  const end = recordAt(view, view.byteLength - END.bytes, END)
  let at = end.getUint32(16, true)
  return Array.from({ length: end.getUint16(10, true) }, () => {
    const entry = recordAt(view, at, ENTRY)
    // Behind it stand a name, an extra field and a comment.
    at += [28, 30, 32].reduce((sum, place) => sum + entry.getUint16(place, true), ENTRY.bytes)
    return () => contentOf(bytes, entry)
  })
}

/** Returns the content of a file, by its record at the end of the archive. */
function contentOf(bytes: Uint8Array<ArrayBuffer>, entry: DataView): ReadableStream<Uint8Array> {
  const method = entry.getUint16(10, true)
  if (![STORED, DEFLATED].includes(method)) throw unreadable()
  const start = entry.getUint32(42, true)
  const file = recordAt(viewOf(bytes), start, FILE)
  const from = start + FILE.bytes + file.getUint16(26, true) + file.getUint16(28, true)
  const stream = new Blob([bytes.subarray(from, from + entry.getUint32(20, true))]).stream()
  return method === STORED ? stream : stream.pipeThrough(new DecompressionStream('deflate-raw'))
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array) =>
  new DataView(buffer, byteOffset, byteLength)

/** Returns the record at a position of the archive. */
function recordAt(view: DataView, at: number, { signature, bytes }: typeof FILE): DataView {
  if (at < 0 || at + bytes > view.byteLength) throw unreadable()
  const record = new DataView(view.buffer, view.byteOffset + at, view.byteLength - at)
  if (record.getUint32(0, true) !== signature) throw unreadable()
  return record
}

const unreadable = () => new RangeError('The archive is cut off, or of another form.')
