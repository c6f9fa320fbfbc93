import * as v from 'valibot'
import * as f from '../validation/fields.ts'

/** Returns whether the runtime knows a time zone. Offsets such as `+02:00` are not accepted. */
const isZone = (name: string) => {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name })
    return !/^[+-]/.test(name)
  } catch {
    return false
  }
}

/** A time zone of the IANA database, stored in the canonical spelling. */
export const zone = v.pipe(
  f.text,
  v.check(isZone, 'pattern a name of the IANA time zone database'),
  v.transform((timeZone) => new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone),
)
