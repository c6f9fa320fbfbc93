import { methodWords } from '../../pages/parts/bank-details.tsx'
import { Data, isolated, titleOf, visible } from '../../pages/parts/data.tsx'
import { Json } from '../../pages/parts/fields.tsx'
import { parseAffiliateActor } from '../../platform/auth/grant.ts'
import { isObject } from '../../platform/validation/record-validator.ts'

// What the entries of the audit log say: the action, and the fields of its details.

/** The details of an entry, which depend on its action. */
type Details = Readonly<Record<string, unknown>>

/** The fields that only programs read. */
const HIDDEN =
  /^(?:account|before|created_at|digest|entry|event|event_id|(?:file_)?hash|id|member|move|note|replaces|run|statements)$/

/** The verbs of actions whose past is not made by `ed`. */
const PAST: Readonly<Record<string, string>> = {
  ask: 'asked',
  begin: 'began',
  cancel: 'cancelled',
  join: 'joined as',
  pay: 'paid',
  put: 'stored',
  reset: 'reset',
  run: 'ran',
  withdraw: 'withdrew',
}

const plain = (name: string) => titleOf(name.replaceAll(/[.-]/g, ' ')).toLowerCase()

/** Returns a noun after its article. Plurals have none. */
const withArticle = (noun: string): string => {
  if (/(?<!statu)s$/.test(noun)) return noun
  return `${noun === 'account' ? 'the' : /^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`
}

/** Returns an action in words: `changed a webhook` for `webhook.change`. */
export function actionWords(action: string): string {
  const subject = action.slice(0, action.lastIndexOf('.'))
  const verb = action.slice(subject.length + 1)
  const past = verb.endsWith('e') ? `${verb}d` : `${verb}ed`
  return `${PAST[verb] ?? plain(past)} ${withArticle(plain(subject))}`
}

/** Returns the fields of an entry. Those of a group are fields of their own. */
function fieldsOf(details: Details) {
  const former = isObject(details.before) ? details.before : {}
  return Object.entries(details)
    .filter(([name]) => !HIDDEN.test(name))
    .flatMap(([name, after]) => {
      const before = former[name]
      if (!isObject(after)) return [{ name, before, after }]
      const group = isObject(before) ? before : {}
      return Object.entries(after).map(([one, value]) => ({
        name: one,
        before: group[one],
        after: value,
      }))
    })
    .filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after))
}

/** The actors that are no people. */
const ACTORS: Readonly<Record<string, string>> = {
  'root-key': 'The root key',
  cron: 'The service',
  portal: 'A new member',
  'sign-up': 'The service, by e-mail to the applicant',
  webhooks: 'The service, about webhooks',
}

/** Returns what an actor is called: a person of the team by their name. */
export function actorTitle(actor: string): string {
  const own = parseAffiliateActor(actor)
  return own ? `A ${own.by} of ${isolated(own.affiliate_id)}` : (ACTORS[actor] ?? visible(actor))
}

/** Renders who acted: a person and their role, the key of the service, or the service itself. */
export const Actor = ({ actor }: { actor: string }) => (
  <strong>
    <Data text={actorTitle(actor)} />
  </strong>
)

/** Renders the value of a field. */
const shown = (name: string, value: unknown) =>
  name === 'method' ? methodWords(String(value)) : <Json name={name} value={value} />

/** Renders what an entry of the audit log says after the name of who acted. */
export function AuditWords({ action, details }: { action: string; details: Details }) {
  const fields = fieldsOf(details)
  return (
    <>
      {actionWords(action)}
      {fields.length > 0 && (
        <ul class="diff">
          {fields.map(({ name, before, after }) => (
            <li>
              {titleOf(name)}:{' '}
              {before !== undefined && (
                <>
                  <del>{shown(name, before)}</del> →{' '}
                </>
              )}
              <ins>{shown(name, after)}</ins>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
