const QUOTE = 0x22
const BACKSLASH = 0x5c
const SPACE = 0x20

/** The control characters that JSON escapes with one letter: `\b`, `\t`, `\n`, `\f`, `\r`. */
const SHORT_ESCAPES: ReadonlySet<number> = new Set([8, 9, 10, 12, 13])
const SHORT_ESCAPE_BYTES = 2
const LONG_ESCAPE_BYTES = 6

/**
 * Returns the bytes of a text in UTF-8. For the short texts of fields, this takes a tenth of the time
 * of `TextEncoder`. The text has no lone surrogates, or is not stored.
 */
export function utf8Bytes(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) bytes += extraBytes(text.charCodeAt(i))
  return bytes
}

/** Returns the bytes of a text as a JSON string in UTF-8, with its quotes. */
export function jsonTextBytes(text: string): number {
  let bytes = text.length + '""'.length
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE || code === BACKSLASH) bytes += SHORT_ESCAPE_BYTES - 1
    else if (code < SPACE) {
      bytes += (SHORT_ESCAPES.has(code) ? SHORT_ESCAPE_BYTES : LONG_ESCAPE_BYTES) - 1
    } else bytes += extraBytes(code)
  }
  return bytes
}

/** Returns how many bytes beyond the first a UTF-16 unit takes. Two units of a pair take four in all. */
function extraBytes(code: number): number {
  if (code < 0x80) return 0
  if (code < 0x800 || (code >= 0xd800 && code < 0xe000)) return 1
  return 2
}
