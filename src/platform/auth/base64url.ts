/** Encodes bytes as base64url without padding. */
export const encodeBase64url = (bytes: Uint8Array) =>
  bytes.toBase64({ alphabet: 'base64url', omitPadding: true })

/**
 * Decodes base64url without padding, or returns null if the text is not its canonical form. Lenient
 * decoders ignore unused bits in the last character, so a signature could be changed and still be
 * valid.
 */
export function decodeBase64url(text: string): Uint8Array | null {
  if (!/^[\w-]*$/.test(text)) return null
  const padded = text.padEnd(Math.ceil(text.length / 4) * 4, '=')
  try {
    return Uint8Array.fromBase64(padded, { alphabet: 'base64url', lastChunkHandling: 'strict' })
  } catch {
    return null
  }
}
