import { expect, test } from 'vitest'
import { MAX_PACKED_BYTES, type PackedErrors, packErrors } from '../src/ingest/delivery-errors.ts'
import type { FormattedIssue } from '../src/validation/messages.ts'

test('errors are packed in their order until they take 256 KiB', () => {
  const errors = Array.from({ length: 3000 }, (_, index): FormattedIssue & { index: number } => ({
    index,
    pointer: `/${index}/currency`,
    code: 'currency',
    message: `${'é'.repeat(100)}${index}`,
  }))
  const packed = packErrors(errors, 'array')
  const { kinds, records }: PackedErrors = JSON.parse(packed)
  const bytes = new TextEncoder().encode(packed).length
  expect(bytes).toBeLessThanOrEqual(MAX_PACKED_BYTES)
  expect(bytes).toBeGreaterThan(MAX_PACKED_BYTES - 10_000)
  expect(records.map(([index]) => index)).toEqual(records.map((_, i) => i))
  expect(kinds.length).toBe(records.length)
})
