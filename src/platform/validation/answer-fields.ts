import * as v from 'valibot'
import { component, described } from './described.ts'
import * as f from './fields.ts'
import { member, nullable, said } from './fields.ts'

// Members that many answers have, and days as parameters.

/** A time on the wire, in UTC. */
export const time = described(() => v.pipe(v.string(), v.isoTimestamp()))

/** A day, `YYYY-MM-DD`. */
export const day = described(() => v.pipe(v.string(), v.isoDate()))

/** A whole number of at least 0. */
export const count = described(() => v.pipe(v.number(), v.integer(), v.minValue(0)))

/** When a change reaches live tokens. */
export const takes_effect = described(() =>
  member(
    v.picklist(['now', 'within a minute']),
    'When live tokens follow the change. `within a minute` means that some could not be notified at once.',
  ),
)

/** An amount of money, as decimal text. */
export const money = described(() => v.pipe(v.string(), v.regex(/^-?\d+(\.\d+)?$/)))

/** Describes a warning about the terms of a plan or of a rule, which has one of these codes. */
export const warning = (name: string, codes: readonly string[]) =>
  component(name, () => ({
    code: member(v.picklist(codes) as v.GenericSchema<string>, 'The code of the warning.'),
    pointer: member(v.string(), 'A JSON Pointer (RFC 6901) into the body as sent.'),
    message: member(v.string(), 'What the author should know.'),
  }))

/** Whether a version was stored. */
export const outcome = described(() =>
  member(
    v.picklist(['created', 'unchanged']),
    'Whether a version was created. `unchanged`: the latest version has the same terms.',
  ),
)

/** When a version was stored and withdrawn. */
export const stored = described(() =>
  v.object({
    created_at: member(time, 'When the version was put.'),
    withdrawn_at: nullable(time, 'When the version was withdrawn. Null if it was not.'),
  }),
)

/** The number of a version. */
export const version = member(
  v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(999_999)),
  said('The number of the version, from 1.', 1),
)
const from = member(f.day, said('The first day.', '2026-10-01'))
const to = member(f.day, said('The last day, inclusive.', '2026-10-31'))

/** The first and the last day of what is counted: at most 366 days. */
export const daysNeeded = {
  from,
  to: member(
    f.day,
    said('The last day, inclusive. A request covers at most 366 days.', '2026-10-31'),
  ),
}

/** The first and the last day of a list. */
export const daysWanted = { from: v.optional(from), to: v.optional(to) }
