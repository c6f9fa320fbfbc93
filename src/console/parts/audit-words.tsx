import type { Child } from 'hono/jsx'
import { parseAffiliateActor } from '../../auth/grant.ts'

import { useVisit } from '../page.ts'
import { ACTION_WORDS } from './audit-actions.ts'
import { count, Data, Day, isolated, Name, titleOf, visible } from './data.tsx'
import {
  ACCOUNT_WORDS,
  DEFINITION_WORDS,
  type FieldWords,
  LINK_WORDS,
  VIEW_WORDS,
  WEBHOOK_WORDS,
} from './field-words.ts'
import { AccountLink, Json, Value } from './fields.tsx'
import { formText } from './schema.ts'

// What the entries of the audit log say: the words of the action, what it concerned, and the fields of its details.

/** The details of an entry, which depend on its action. */
type Details = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Details =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The fields that only programs read. */
const HIDDEN =
  /^(?:account|before|case|created_at|digest|entry|event|event_id|hash|id|member|move|note|replaces|run|statements?)$/

/** The fields that stand beside the words of the action: what it concerned. */
const CONCERNED = /^(?:affiliate_id|customer_id|plan|period|month|eventname)$/

/** The words of fields that have others than in forms. */
const OWN_WORDS: Readonly<Record<string, Omit<FieldWords, 'hint'>>> = {
  affiliate_id: { label: 'Affiliate', choices: { '*': 'all other affiliates' } },
  because: {
    label: 'Because',
    choices: { expired: 'no new record in 90 days', rule: 'the rule has changed' },
  },
  changed: { label: 'Changed', choices: { display_name: 'name', contact_email: 'email' } },
  first: { label: 'First of them' },
  holds: { label: 'Payouts stay held' },
  ids: { label: 'First of them' },
  keep_hold: { label: 'Payouts stay held' },
  leave_out_holds: { label: 'Without records that wait for a rate or a currency' },
  onlyDead: { label: 'Only those that had failed' },
  overlap: {
    label: 'The former one ends',
    choices: {
      none: 'at once',
      '1h': 'after 1 hour',
      '24h': 'after 24 hours',
      '7d': 'after 7 days',
    },
  },
  pause_ms: { label: 'Writes refused for milliseconds' },
  refused: { label: 'Customers excluded from commission' },
  release: { label: 'Ends the hold' },
  waiting: { label: 'Another person must agree' },
}

const WORDS: typeof OWN_WORDS = {
  ...DEFINITION_WORDS,
  ...LINK_WORDS,
  ...WEBHOOK_WORDS,
  ...VIEW_WORDS,
  ...ACCOUNT_WORDS,
  ...OWN_WORDS,
}

/** A field of an entry. `before` is undefined if the log does not have it. */
interface Field {
  readonly name: string
  readonly label: string
  readonly before?: unknown
  readonly after: unknown
}

const fieldOf = (name: string, after: unknown, former: unknown, title = titleOf(name)): Field => ({
  ...{ name, label: WORDS[name]?.label ?? title, after },
  ...(isObject(former) && name in former && { before: former[name] }),
})

/** Returns the fields of an entry. Those of a group are fields of their own, whose names may be words of the firm. */
function fieldsOf(details: Details): readonly Field[] {
  const { before } = details
  const fields = Object.entries(details)
    .filter(([name]) => !HIDDEN.test(name))
    .flatMap(([name, value]) => {
      const field = fieldOf(name, value, before)
      return isObject(value)
        ? Object.entries(value).map(([member, one]) =>
            fieldOf(member, one, field.before, visible(member)),
          )
        : [field]
    })
    .filter((one) => JSON.stringify(one.before) !== JSON.stringify(one.after))
  return Array.isArray(before) && before.length > 0
    ? [...fields, fieldOf('before', before, null)]
    : fields
}

/** The most items of a list that are shown. */
const MOST_ITEMS = 5

const joined = (parts: readonly Child[], separator = ', '): Child =>
  parts.map((part, i) => (
    <>
      {i > 0 && separator}
      {part}
    </>
  ))

/** Renders the value of a field in words; the first items of a list. */
function Shown({ name, value }: { name: string; value: unknown }): Child {
  if (value === null || value === undefined || value === '') return 'none'
  if (Array.isArray(value)) {
    const own = name === 'ids' ? 'affiliate_id' : name
    const items = value.slice(0, MOST_ITEMS).map((one) => <Shown name={own} value={one} />)
    const rest = value.length - MOST_ITEMS
    const more = rest > 0 ? [`and ${count(rest)} more`] : []
    return value.length === 0
      ? 'none'
      : joined([...items, ...more], isObject(value[0]) ? '; ' : ', ')
  }
  if (isObject(value)) {
    const members = Object.entries(value).filter(([member, one]) => member !== 'from' || one)
    return joined(
      members.map(([member, one]) => (
        <>
          {!isObject(Array.isArray(one) ? one[0] : one) &&
            `${WORDS[member]?.label ?? titleOf(member)} `}
          <Shown name={member} value={one} />
        </>
      )),
    )
  }
  const { choices } = WORDS[name] ?? {}
  const words = choices?.[String(value)]
  if (words !== undefined) return words
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  // The events of some days are sent again: the days are in milliseconds.
  if (typeof value === 'number' && (name === 'from' || name === 'to')) {
    return <Day day={new Date(value).toISOString().slice(0, 10)} />
  }
  if (typeof value === 'number') return count(Number(formText(name, value)))
  const isTime = name === 'month' || /^\d{4}-\d\d-\d\dT/.test(String(value))
  return isTime ? <Json value={value} /> : <Value name={name} value={value} />
}

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
  webhooks: 'The service',
}

/** Returns what an actor is called who is no person of the team; undefined for one of the team. */
function otherActor(actor: string): string | undefined {
  const own = parseAffiliateActor(actor)
  if (own) return `A ${own.by} of ${isolated(own.affiliate_id)}`
  return ACTORS[actor]
}

/** Returns what an actor is called in a list of choices. */
export const actorTitle = (actor: string): string =>
  actor === 'webhooks' ? 'The service, about webhooks' : (otherActor(actor) ?? visible(actor))

/** Renders a member of an affiliate by their name; a key, or a member who was removed, by the affiliate. */
export const NamedActor = async (
  props: { actor: string; role?: string | null },
  visit = useVisit(),
) => {
  const { actor, role } = props
  const own = parseAffiliateActor(actor)
  const name = own?.by === 'member' ? await visit.names.member(own.affiliate_id, own.id) : null
  if (own === null || name === null) return <Actor actor={actor} role={role ?? null} />
  return (
    <strong>
      <Name text={name} /> of <Data text={own.affiliate_id} />
    </strong>
  )
}

/** Renders who acted: a person and their role, the key of the service, or the service itself. */
export const Actor = ({ actor, role }: { actor: string; role?: string | null }) => (
  <>
    <strong>
      <Data text={otherActor(actor) ?? actor} />
    </strong>
    {role && !otherActor(actor) && <small> ({role})</small>}
  </>
)

interface WordsProps {
  readonly action: string
  readonly details: Details
}

/** Renders what an entry of the audit log says after the name of who acted. */
export function AuditWords({ action, details }: WordsProps) {
  const [concerned = [], others = []] = [true, false].map((isConcerned) =>
    fieldsOf(details).filter(({ name }) => CONCERNED.test(name) === isConcerned),
  )
  const shown = (name: string, value: unknown) => <Shown name={name} value={value} />
  const words = ACTION_WORDS[action] ?? titleOf(action.replaceAll(/[.-]/g, ' ')).toLowerCase()
  const [subject = ''] = action.split('.')
  const of = { ...details, ...(action !== 'webhook.delete' && { [subject]: details.id }) }
  const found = Object.entries(PAGES).find(([name]) => typeof of[name] === 'string')
  return (
    <>
      {!found ? words : <AccountLink at={[found[1], String(of[found[0]])]} children={words} />}
      {concerned.length > 0 && ': '}
      {joined(concerned.map(({ name, after }) => shown(name, after)))}
      {others.length > 0 && (
        <ul class="diff">
          {others.map(({ name, label, before, after }) => (
            <li>
              {label}:{' '}
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
