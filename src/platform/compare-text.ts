/** Compares two texts by code point. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  const length = Math.min(a.length, b.length)
  for (let index = 0; index < length; index++) {
    const difference = codeOrder(a.charCodeAt(index)) - codeOrder(b.charCodeAt(index))
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

/** Surrogates sort after all other code units, since they encode the largest code points. */
const codeOrder = (code: number): number =>
  code >= 0xd800 && code < 0xe000 ? code + 0x10000 : code
