import { numbersOf } from './exact.ts'
import { isUnsaid, type Judge, memberOf, nameOf, refusedBy, typeOf } from './schemas.ts'
import type { Fault } from './verdicts.ts'

/**
 * Where the two judges disagree on a record, in words; null: they agree. `used` collects what no
 * schema can say and the service has said.
 */
export function disagreement(
  judge: Judge,
  text: string,
  faults: readonly Fault[],
  used?: Set<string>,
): string | null {
  const refused = refusedBy(judge, JSON.parse(text))
  const told = new Map<string, Set<string>>()
  for (const { pointer, code } of faults) {
    const member = memberOf(pointer)
    told.set(member, (told.get(member) ?? new Set()).add(code))
  }
  if (refused.size > 0 && told.size === 0) {
    return `The schema refuses ${list(refused.keys())}, the service takes it.`
  }
  for (const [member, codes] of told) {
    for (const code of codes) {
      if (refused.get(member)?.has(code)) continue
      if (!isUnsaid(judge, member, code)) {
        return `The service has ${code} against ${member || 'the record'}, the schema has not.`
      }
      used?.add(placeOf(judge, member) + code)
    }
  }
  for (const [member, rule] of numbersOf(judge.schema, text)) {
    const [code = null] = told.get(member) ?? []
    if (code === rule || refused.has(member)) continue
    return `The service has ${code} against ${member}, and its digits as written ${rule}.`
  }
  for (const member of refused.keys()) {
    if (told.has(member) || isMeant(member, told) || isAmount(judge, member, told)) continue
    return `The schema has something against ${member || 'the record'}, the service nothing.`
  }
  return null
}

/** The type that a member is of, `*` for any that is not listed, and nothing for the record. */
function placeOf(judge: Judge, member: string): string {
  if (member === '') return ''
  if (!isListed(judge, member)) return '* '
  return `${typeOf(judge.schema.properties![nameOf(member)]!)} `
}

const list = (members: Iterable<string>) =>
  [...members].map((member) => member || 'the record').join(', ')

const isListed = ({ schema }: Judge, member: string) =>
  member !== '' && Object.hasOwn(schema.properties!, nameOf(member))

/** A member that is missing, and there in another case, is one mistake to the service. */
const isMeant = (member: string, told: Map<string, Set<string>>) =>
  [...told].some(
    ([other, codes]) =>
      codes.has('required') && member !== '' && other.toLowerCase() === member.toLowerCase(),
  )

/** An event whose amounts are all wrong has none to the schema; the service says what is wrong. */
const isAmount = (judge: Judge, member: string, told: Map<string, Set<string>>) =>
  member === '' &&
  [...told].some(
    ([other, codes]) => !isListed(judge, other) && (codes.has('number') || codes.has('digits')),
  )
