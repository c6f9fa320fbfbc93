import { expect, test } from 'vitest'
import { maskNumbers } from '../../src/platform/validation/mask-numbers.ts'

const MASKED: readonly [text: string, masked: string][] = [
  ['Konto DE89370400440532013000 erloschen', 'Konto DE…3000 erloschen'],
  ['iban de89 3704 0044 0532 0130 00.', 'iban DE…3000.'],
  ['De89-3704-0044-0532-0130-00', 'DE…3000'],
  ['DE89.3704.0044.0532.0130.00', 'DE…3000'],
  ['KontoDE89370400440532013000erloschen', 'KontoDE…3000erloschen'],
  ['ＤＥ８９３７０４００４４０５３２０１３０００', 'DE…3000'],
  ['DE89\u200b3704\n0044 0532 0130 00', 'DE…3000'],
  ['GB29NWBK60161331926819 and fr1420041010050500013m02606', 'GB…6819 and FR…2606'],
  ['Kto 532013000 BLZ 370 400 44', 'Kto …3000 BLZ …0044'],
  ['Kto.0532-013-000, xx532013', 'Kto.…3000, xx…013'],
  ['to 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed.', 'to …eAed.'],
  ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t is wrong', '…Lj6t is wrong'],
  ['(EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v)', '(…Dt1v)'],
]

const AS_IT_IS = [
  `paid by 0x${'5aAeb6053F3E94C9'.repeat(4)}`,
  'The account is closed since 27.11.2026, see DE 12 of code 5320',
  'T7K2M9XQ4D came back, 1,234.56 EUR',
  'T4VMGAZ21E Konto erloschen, 1234 Euro',
  'Mandate 4711-0815-2026-9999',
]

test('§20 law 6: numbers of accounts are masked in every spelling, and nothing else', () => {
  const own = ['DE89370400440532013000']
  for (const [text, masked] of MASKED) expect(maskNumbers(text, own)).toBe(masked)
  for (const text of AS_IT_IS) expect(maskNumbers(text, own)).toBe(text)
})
