import fc from 'fast-check'

/** One change of the bytes. */
export interface Slip {
  at: number
  how: 'flip' | 'cut' | 'truncate' | 'put' | 'bom'
  bytes: number[]
}

/** Generates bytes that are flipped, left out or inserted: most are not UTF-8. */
export const slip: fc.Arbitrary<Slip> = fc.record({
  at: fc.nat(100_000),
  how: fc.constantFrom<Slip['how'][]>('flip', 'cut', 'truncate', 'put', 'bom'),
  bytes: fc.oneof(
    fc.array(fc.nat(255), { minLength: 1, maxLength: 4 }),
    fc.constantFrom<number[]>(
      [0xc3, 0x28],
      [0xed, 0xa0, 0x80],
      [0xf8],
      [0xc0, 0x80],
      [0],
      [0x22],
      [0x2c],
      [0x7d],
    ),
  ),
})

/** Applies one change to bytes. */
export function spoil(bytes: Uint8Array, { at, how, bytes: put }: Slip): Uint8Array {
  const from = at % (bytes.length + 1)
  const [head, tail] = [bytes.subarray(0, from), bytes.subarray(from)]
  if (how === 'bom') return Uint8Array.of(0xef, 0xbb, 0xbf, ...bytes)
  if (how === 'truncate') return head
  if (how === 'cut') return Uint8Array.of(...head, ...tail.subarray(put.length))
  if (how === 'put') return Uint8Array.of(...head, ...put, ...tail)
  return bytes.map((byte, i) => (i === from ? byte ^ (1 << (put[0]! % 8)) : byte))
}
