import type { Child } from 'hono/jsx'
import { methodWords } from '../../pages/parts/bank-details.tsx'
import { Data, isolated, titleOf, visible } from '../../pages/parts/data.tsx'
import { Json } from '../../pages/parts/fields.tsx'
import { parseAffiliateActor } from '../../platform/auth/grant.ts'
import { isObject } from '../../platform/validation/record-validator.ts'

// What the entries of the audit log say: the action, and the fields of its details.

/** What of an entry is written in words. */
interface Entry {
  readonly action: string
  readonly url: string | null
  readonly changes: readonly { field: string; before?: unknown; after?: unknown }[]
  /** They depend on the action. */
  readonly details: Readonly<Record<string, unknown>>
}

/** The fields that only programs read. */
const HIDDEN =
  /^(?:account|affiliate_id|before|created_at|digest|entry|event|event_id|(?:file_)?hash|ids?|invitation|member|move|note|replaces|run|statements)$/

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

/** Returns the fields of an entry: first those that were changed. */
function fieldsOf({ changes, details }: Entry) {
  const others = Object.entries(details)
    .filter(([name, value]) => !HIDDEN.test(name) && !isEmpty(value))
    .flatMap(([field, after]) =>
      isObject(after) ? Object.entries(after) : [[field, after] as const],
    )
    .map(([field, after]) => ({ field, before: undefined, after }))
  return [...changes, ...others]
}

const isEmpty = (value: unknown) => value === null || value === undefined || value === ''

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

/** Renders who acted: a person, by their name if it is known, the key of the service, or the service itself. */
export const Actor = ({ actor, name }: { actor: string; name?: string | null }) => (
  <strong>
    <Data text={name ?? actorTitle(actor)} />
  </strong>
)

/** Renders the value of a field. */
function Shown({ field, value }: { field: string; value: unknown }): Child {
  if (isEmpty(value)) return 'nothing'
  const name = field.slice(field.lastIndexOf('.') + 1)
  return name === 'method' ? methodWords(String(value)) : <Json name={name} value={value} />
}

/** Renders what an entry of the audit log says after the name of who acted. */
export function AuditWords({ entry }: { entry: Entry }) {
  const fields = fieldsOf(entry)
  const words = actionWords(entry.action)
  const url = entry.url && new URL(entry.url)
  return (
    <>
      {url ? <a href={url.pathname + url.search}>{words}</a> : words}
      {fields.length > 0 && (
        <ul class="diff">
          {fields.map(({ field, before, after }) => (
            <li>
              <Data text={field.split('.').map(titleOf).join(' · ')} />:{' '}
              {before !== undefined && (
                <>
                  <del>
                    <Shown field={field} value={before} />
                  </del>{' '}
                  →{' '}
                </>
              )}
              <ins>
                <Shown field={field} value={after} />
              </ins>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
