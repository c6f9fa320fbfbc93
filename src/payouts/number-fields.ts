import * as v from 'valibot'
import * as f from '../platform/validation/fields.ts'
import { ruleMessage } from '../platform/validation/issue.ts'

// Numbers as people paste them.

/** Returns a text in its usual width, without what no eye sees. */
export const readSeen = (text: string) => text.normalize('NFKC').replaceAll(/[\s\p{Cf}\p{Z}]/gu, '')

/** Returns a number as it is stored: also without what people write before it and between its digits. */
const readNumber = (text: string) =>
  readSeen(text)
    .toUpperCase()
    .replaceAll(/[\p{Pd}./]/gu, '')
    .replace(/^(?:IBAN)?:?/, '')

/** Returns a schema for a number as people paste it. */
export const numberOf = (expected: string, isValid: (text: string) => boolean) =>
  v.pipe(f.text, v.transform(readNumber), v.check(isValid, ruleMessage('pattern', expected)))

/** A VAT number. */
export const vatId = numberOf('2 to 20 letters and digits', (text) =>
  /^[A-Z\d][A-Z\d+*]{1,19}$/.test(text),
)
