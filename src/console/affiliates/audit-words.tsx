import type { Child } from 'hono/jsx'
import { count, Data, isolated, titleOf, visible } from '../../pages/parts/data.tsx'
import {
  ACCOUNT_WORDS,
  DEFINITION_WORDS,
  type FieldWords,
  LINK_WORDS,
  VIEW_WORDS,
  WEBHOOK_WORDS,
} from '../../pages/parts/field-words.ts'
import { AccountLink, Json, Value } from '../../pages/parts/fields.tsx'
import { parseAffiliateActor } from '../../platform/auth/grant.ts'

// What the entries of the audit log say: the action, what it concerned, and the fields of its details.

/** The details of an entry, which depend on its action. */
type Details = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Details =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The fields that only programs read. */
const HIDDEN =
  /^(?:account|before|case|created_at|digest|entry|event|event_id|hash|id|member|move|note|replaces|run|statements?)$/

/** The fields that stand beside the words of the action: what it concerned. */
const CONCERNED = /^(?:affiliate_id|customer_id|plan|period|month|eventname)$/

const WORDS: Readonly<Record<string, Omit<FieldWords, 'hint'>>> = {
  ...DEFINITION_WORDS,
  ...LINK_WORDS,
  ...WEBHOOK_WORDS,
  ...VIEW_WORDS,
  ...ACCOUNT_WORDS,
  affiliate_id: { label: 'Affiliate', choices: { '*': 'all other affiliates' } },
}

/** The verbs of actions whose past is not made by `ed`. */
const PAST: Readonly<Record<string, string>> = {
  ask: 'asked',
  begin: 'began',
  pay: 'paid',
  put: 'stored',
  reset: 'reset',
  run: 'ran',
  withdraw: 'withdrew',
}

const plain = (name: string) => titleOf(name.replaceAll(/[.-]/g, ' ')).toLowerCase()

/** Returns an action in words: `changed webhook` for `webhook.change`. */
export function actionWords(action: string): string {
  const subject = action.slice(0, action.lastIndexOf('.'))
  const verb = action.slice(subject.length + 1)
  const past = verb.endsWith('e') ? `${verb}d` : `${verb}ed`
  return `${PAST[verb] ?? plain(past)} ${plain(subject)}`
}

/** Returns what the subjects of actions with the same first word are called in a list of choices. */
export const subjectTitle = (word: string): string => titleOf(word.replaceAll('-', ' '))

const labelOf = (name: string): string => WORDS[name]?.label ?? titleOf(name)

/** Returns the fields of an entry. Those of a group are fields of their own, whose names may be words of the firm. */
function fieldsOf(details: Details) {
  const former = isObject(details.before) ? details.before : {}
  return Object.entries(details)
    .filter(([name]) => !HIDDEN.test(name))
    .flatMap(([name, after]) => {
      const before = former[name]
      if (!isObject(after)) return [{ name, label: labelOf(name), before, after }]
      return Object.entries(after).map(([member, one]) => ({
        name: member,
        label: WORDS[member]?.label ?? visible(member),
        before: isObject(before) ? before[member] : undefined,
        after: one,
      }))
    })
    .filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after))
}

/** The most items of a list that are shown. */
const MOST_ITEMS = 5

/** Renders the value of a field in words; the first items of a list. */
function Shown({ name, value }: { name: string; value: unknown }): Child {
  if (value === null || value === undefined || value === '') return 'none'
  if (Array.isArray(value)) {
    const rest = value.length - MOST_ITEMS
    return value.length === 0
      ? 'none'
      : joined([
          ...value.slice(0, MOST_ITEMS).map((one) => <Shown name={name} value={one} />),
          ...(rest > 0 ? [`and ${count(rest)} more`] : []),
        ])
  }
  if (isObject(value)) {
    return joined(
      Object.entries(value).map(([member, one]) => (
        <>
          {labelOf(member)} <Shown name={member} value={one} />
        </>
      )),
    )
  }
  const { choices } = WORDS[name] ?? {}
  const words = name === 'changed' ? labelOf(String(value)) : choices?.[String(value)]
  if (words !== undefined) return words
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return count(value)
  const isTime = name === 'month' || /^\d{4}-\d\d-\d\dT/.test(String(value))
  return isTime ? <Json value={value} /> : <Value name={name} value={value} />
}

const joined = (parts: readonly Child[]): Child =>
  parts.map((part, i) => (
    <>
      {i > 0 && ', '}
      {part}
    </>
  ))

/** The pages of what has an id that people do not know, by the field or by the first word of the action. */
const PAGES: Readonly<Record<string, string>> = {
  statement: 'statements',
  case: 'cases',
  rule: 'fraud-rules',
  webhook: 'webhooks',
  'affiliate-question': 'questions',
}

/** The actors that are no people. */
const ACTORS: Readonly<Record<string, string>> = {
  'admin-key': 'The admin key',
  cron: 'The service',
  portal: 'A new member',
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

/** Renders what an entry of the audit log says after the name of who acted. */
export function AuditWords({ action, details }: { action: string; details: Details }) {
  const fields = fieldsOf(details)
  const concerned = fields.filter(({ name }) => CONCERNED.test(name))
  const others = fields.filter(({ name }) => !CONCERNED.test(name))
  const [subject = ''] = action.split('.')
  const of = { ...details, ...(action !== 'webhook.delete' && { [subject]: details.id }) }
  const found = Object.entries(PAGES).find(([name]) => typeof of[name] === 'string')
  const words = actionWords(action)
  return (
    <>
      {found ? <AccountLink at={[found[1], String(of[found[0]])]} children={words} /> : words}
      {concerned.length > 0 && ': '}
      {joined(concerned.map(({ name, after }) => <Shown name={name} value={after} />))}
      {others.length > 0 && (
        <ul class="diff">
          {others.map(({ name, label, before, after }) => (
            <li>
              {label}:{' '}
              {before !== undefined && (
                <>
                  <del>
                    <Shown name={name} value={before} />
                  </del>{' '}
                  →{' '}
                </>
              )}
              <ins>
                <Shown name={name} value={after} />
              </ins>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
