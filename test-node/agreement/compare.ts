import { numbersOf } from './exact.ts'
import type { Fault } from './faults.ts'
import { isInRules, memberOf, nameOf, refusedBy, type SchemaValidator, typeOf } from './schemas.ts'

/**
 * Returns where schema and service disagree on a record, or null. `used` collects the errors of the
 * service that no schema can express.
 */
export function disagreement(
  validator: SchemaValidator,
  text: string,
  faults: readonly Fault[],
  used?: Set<string>,
): string | null {
  const refused = refusedBy(validator, JSON.parse(text))
  const reported = new Map<string, Set<string>>()
  for (const { pointer, code } of faults) {
    const member = memberOf(pointer)
    reported.set(member, (reported.get(member) ?? new Set()).add(code))
  }
  if (refused.size > 0 && reported.size === 0) {
    return `The schema refuses ${list(refused.keys())}, the service accepts it.`
  }
  for (const [member, codes] of reported) {
    for (const code of codes) {
      if (refused.get(member)?.has(code)) continue
      if (!isInRules(validator, member, code)) {
        return `The service reports ${code} for ${member || 'the record'}, the schema accepts it.`
      }
      used?.add(rulePrefixOf(validator, member) + code)
    }
  }
  for (const [member, rule] of numbersOf(validator.schema, text)) {
    const [code = null] = reported.get(member) ?? []
    if (code === rule || refused.has(member)) continue
    return `The service reports ${code} for ${member}, and its digits as written break ${rule}.`
  }
  for (const member of refused.keys()) {
    if (
      reported.has(member) ||
      isReportedAsMissing(member, reported) ||
      isReportedAsAmount(validator, member, reported)
    )
      continue
    return `The schema refuses ${member || 'the record'}, the service accepts it.`
  }
  return null
}

/** Returns the type of a member, `*` for one that is not listed, and nothing for the record. */
function rulePrefixOf(validator: SchemaValidator, member: string): string {
  if (member === '') return ''
  if (!isListed(validator, member)) return '* '
  return `${typeOf(validator.schema.properties![nameOf(member)]!)} `
}

const list = (members: Iterable<string>) =>
  [...members].map((member) => member || 'the record').join(', ')

const isListed = ({ schema }: SchemaValidator, member: string) =>
  member !== '' && Object.hasOwn(schema.properties!, nameOf(member))

/** Whether the service reports a name of the wrong case as one missing member. */
const isReportedAsMissing = (member: string, reported: Map<string, Set<string>>) =>
  [...reported].some(
    ([other, codes]) =>
      codes.has('required') && member !== '' && other.toLowerCase() === member.toLowerCase(),
  )

/** Whether the service reports the wrong amounts of an event, which has none for the schema. */
const isReportedAsAmount = (
  validator: SchemaValidator,
  member: string,
  reported: Map<string, Set<string>>,
) =>
  member === '' &&
  [...reported].some(
    ([other, codes]) => !isListed(validator, other) && (codes.has('number') || codes.has('digits')),
  )
