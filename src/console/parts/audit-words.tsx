import type { Child } from 'hono/jsx'
import { parseAffiliateActor } from '../../auth/grant.ts'
import { listed } from '../../commission/engine/reasons.ts'
import type { Visit } from '../page.ts'
import { Amount, count, Data, Day, isolated, Name, periodWords, titleOf, visible } from './data.tsx'
import { type FieldWords, VIEW_WORDS } from './field-words.ts'
import { AccountLink, Json } from './fields.tsx'
import { PlanLink } from './names.tsx'

// What the entries of the audit log say: one sentence for each action, and what it changed.

/** The details of an entry, which depend on its action. */
type Details = Readonly<Record<string, unknown>>

/** One thing that an action changed. `before` is undefined if the log does not have it. */
interface Difference {
  readonly what: Child
  readonly before?: Child
  readonly after: Child
}

/** What an action changed. */
type Changed = (details: Details, visit: Visit) => readonly Difference[]

const text = (details: Details, name: string): string => String(details[name] ?? '')

/** Returns the objects of a list in the details. */
const objects = (value: unknown): readonly Details[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'object' && one !== null) : []

/** Returns an object in the details; an empty one if there is none. */
const objectAt = (details: Details, name: string): Details => objects([details[name]])[0] ?? {}

const counted = (value: unknown, one: string, many = `${one}s`): string =>
  `${count(Number(value ?? 0))} ${Number(value) === 1 ? one : many}`

/** Words of settings that are not those of the form. */
const VALUES: Readonly<Record<string, string>> = {
  true: 'yes',
  false: 'no',
  igaming: 'iGaming',
  'prop-trading': 'prop trading',
  '*': 'all',
}

/** Renders the value of a setting; null as “not set”. */
function Setting({ value }: { value: unknown }): Child {
  if (value === null || value === undefined || value === '') return 'not set'
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) {
    return value.length === 0 ? (
      'none'
    ) : (
      <Data text={value.map((one) => VALUES[one] ?? one).join(', ')} />
    )
  }
  if (typeof value === 'object') return <Json value={value} />
  if (typeof value === 'number') return count(value)
  return <Json value={VALUES[String(value)] ?? value} />
}

/** Returns what changed of the members of an object, as far as `before` has their former values. */
const settings = (after: Details, before?: Details): Difference[] =>
  Object.entries(after)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ({
      what: titleOf(name).replace('Url', 'Address'),
      ...(before && name in before && { before: <Setting value={before[name]} /> }),
      after: <Setting value={value} />,
    }))

/** Returns the changes of an entry whose details are settings, but for these members. */
const settingsBut =
  (...names: readonly string[]): Changed =>
  (details) =>
    settings(
      Object.fromEntries(
        Object.entries(details).filter(([name]) => name !== 'before' && !names.includes(name)),
      ),
      objectAt(details, 'before'),
    )

// An entry names an affiliate by its id: the log has no names of people.
const Affiliate = ({ visit, id }: { visit: Visit; id: string }) =>
  id === '*' ? (
    'all other affiliates'
  ) : (
    <AccountLink visit={visit} at={['affiliates', id]} children={<Data text={id} />} />
  )

const OVERLAPS: Readonly<Record<string, string>> = {
  none: 'The former one ended at once.',
  '1h': 'The former one stayed valid for 1 hour.',
  '24h': 'The former one stayed valid for 24 hours.',
  '7d': 'The former one stayed valid for 7 days.',
}

/** Renders the history of something as one line: from when on which affiliate. */
const historyWords = (value: unknown, member: 'affiliate_id' | 'parent'): Child => {
  const parts = objects(value)
  if (parts.length === 0) return 'none'
  return parts.map((part, i) => (
    <>
      {i > 0 && ', '}
      {part[member] ? <Data text={text(part, member)} /> : 'none'}
      {part.from ? (
        <>
          {' '}
          from <Day day={text(part, 'from').slice(0, 10)} />
        </>
      ) : null}
    </>
  ))
}

/** Renders which members of an affiliate's profile changed. The log has no values, which may be personal. */
function profileChanges(one: Details): Difference[] {
  const names = Array.isArray(one.changed) ? one.changed : []
  const changed = PROFILE_WORDS.flatMap(([name, words]) => (names.includes(name) ? [words] : []))
  const [first = '', ...others] = changed
  const status = names.includes('status') ? text(one, 'status') : ''
  const id = <Data text={text(one, 'affiliate_id')} />
  const what = listed([first.charAt(0).toUpperCase() + first.slice(1), ...others])
  return [
    ...(changed.length > 0
      ? [
          {
            what: (
              <>
                {what} of {id}
              </>
            ),
            after: 'changed',
          },
        ]
      : []),
    ...(status ? [{ what: id, after: status === 'active' ? 'reinstated' : 'suspended' }] : []),
  ]
}

/** What the members of a profile are called, but for the state, which has words of its own. */
const PROFILE_WORDS = [
  ['display_name', 'name'],
  ['contact_email', 'email'],
  ['language', 'language'],
  ['note', 'note'],
] as const

/** Renders assignments: what each affiliate has, and had. */
function assignmentChanges(details: Details, visit: Visit): Difference[] {
  const before = objects(details.before)
  return objects(details.first).map((one) => {
    const id = text(one, 'affiliate_id')
    const was = before.find((other) => other.affiliate_id === id && other.from === one.from)
    return {
      what: <Affiliate visit={visit} id={id} />,
      ...(was && { before: <PlanLink visit={visit} id={text(was, 'plan')} /> }),
      after: (
        <>
          <PlanLink visit={visit} id={text(one, 'plan')} /> from <Day day={text(one, 'from')} />
        </>
      ),
    }
  })
}

/** Renders the affiliates that were stored, at most the first of them. */
function affiliateNames(details: Details, visit: Visit): Child {
  const ids = Array.isArray(details.ids) ? details.ids.map(String) : []
  const rest = Number(details.affiliates ?? ids.length) - ids.length
  return (
    <>
      {ids.map((id, i) => (
        <>
          {i > 0 && ', '}
          <Affiliate visit={visit} id={id} />
        </>
      ))}
      {rest > 0 && ` and ${counted(rest, 'other')}`}
    </>
  )
}

const meanings =
  (member: string): Changed =>
  (details) =>
    Object.entries(objectAt(details, member)).map(([word, means]) => ({
      what: <Data text={word} />,
      after: <Setting value={means} />,
    }))

const viewWords = (name: string): FieldWords =>
  (VIEW_WORDS as Readonly<Record<string, FieldWords>>)[name] ?? { label: titleOf(name), hint: '' }

/** Returns what a choice of what affiliates see is called. */
const viewChoice = (name: string, value: unknown): string =>
  viewWords(name).choices?.[String(value)] ?? String(value)

function accountChanges(details: Details): readonly Difference[] {
  const { before: _, affiliate_view, ...others } = details
  if (Object.keys(others).join() === 'disabled' && !affiliate_view) return []
  const former = objectAt(details, 'before')
  const before = objectAt(former, 'affiliate_view')
  const seen = Object.entries(objectAt(details, 'affiliate_view')).filter(
    ([name, value]) => before[name] !== value,
  )
  return [
    ...settings(others, former),
    ...seen.map(([name, value]) => ({
      what: viewWords(name).label,
      ...(name in before && { before: viewChoice(name, before[name]) }),
      after: viewChoice(name, value),
    })),
  ]
}

function accountSentence({ before: _, ...change }: Details): string {
  const [only, ...others] = Object.keys(change)
  if (others.length === 0 && only === 'disabled')
    return `${change.disabled ? 'disabled' : 'enabled'} the account`
  if (others.length === 0 && only === 'affiliate_view') return 'changed what affiliates see'
  return 'changed {the settings} of the account'
}

/** Returns what a version of a fraud rule does, in words. */
function ruleAction({ action, disabled }: Details): string {
  if (disabled === true) return 'disables it'
  return action === 'hold' ? 'holds payouts while its cases are open' : 'only lists its cases'
}

/** Why a case that nobody has decided no longer holds payouts. */
const ENDED: Readonly<Record<string, string>> = {
  expired: 'it has had no new record in 90 days',
  rule: 'the rule has changed',
}

/** What stands for a placeholder of a sentence that is no member of the details. Null: nothing is known. */
const PARTS: Readonly<Record<string, (details: Details, visit: Visit) => Child>> = {
  affiliate: (details, visit) => <Affiliate visit={visit} id={text(details, 'affiliate_id')} />,
  'names of affiliates': affiliateNames,
  amount: (details) => (
    <Amount value={text(details, 'amount')} currency={text(details, 'currency')} />
  ),
  'a case': (details, visit) => (
    <AccountLink visit={visit} at={['cases', text(details, 'case')]}>
      a case of the fraud review
    </AccountLink>
  ),
  client: (details) => <code>{text(details, 'client_id')}</code>,
  customer: (details, visit) => {
    const id = text(details, 'customer_id')
    return (
      <>
        the customer{' '}
        <AccountLink visit={visit} at={['customers', id]} children={<Data text={id} />} />
      </>
    )
  },
  endpoint: (details, visit) =>
    details.affiliate_id ? (
      <>
        a postback of <Affiliate visit={visit} id={text(details, 'affiliate_id')} />
      </>
    ) : (
      <AccountLink visit={visit} at={['webhooks', text(details, 'id')]} children="a webhook" />
    ),
  'fraud rule': (details, visit) => (
    <AccountLink visit={visit} at={['fraud-rules', text(details, 'rule')]}>
      “<Data text={text(details, 'name') || text(details, 'rule')} />”
    </AccountLink>
  ),
  month: (details) => periodWords(text(details, 'month')),
  'override reason': (details) => <Data text={text(objectAt(details, 'override'), 'reason')} />,
  overlap: (details) => OVERLAPS[text(details, 'overlap')] ?? null,
  period: (details) => periodWords(text(details, 'period')),
  plan: (details, visit) => (
    <PlanLink visit={visit} id={text(details, 'plan')} name={text(details, 'name')} />
  ),
  question: (details, visit) => (
    <>
      <AccountLink visit={visit} at={['questions', text(details, 'id')]} children="question" /> of{' '}
      <Affiliate visit={visit} id={text(details, 'affiliate_id')} />
    </>
  ),
  'a statement': (details, visit) => (
    <AccountLink
      visit={visit}
      at={['statements', text(details, 'statement')]}
      children="a statement"
    />
  ),
  'the settings': (_, visit) => (
    <AccountLink visit={visit} at={['account']} children="the settings" />
  ),
  'the statements': (details, visit) => (
    <AccountLink
      visit={visit}
      at={['statements']}
      query={{ period: text(details, 'period') }}
      children="the statements"
    />
  ),
}

const DAYS = /^(?:from|to|effective_from|paid_on|returned_on|first_day|last_day)$/

/** Returns the day of a member: a day, a time, or milliseconds. */
const dayOf = (value: unknown) =>
  (typeof value === 'number' ? new Date(value).toISOString() : String(value)).slice(0, 10)

/** Renders a member of the details; null if it is absent or empty. */
function memberOf(details: Details, name: string): Child {
  const [member = '', noun] = name.split('|')
  const value = details[member]
  if (noun !== undefined) return counted(value, noun)
  if (value === undefined || value === null || value === '') return null
  if (DAYS.test(member)) return <Day day={dayOf(value)} />
  return typeof value === 'number' ? String(value) : <Data text={String(value)} />
}

/**
 * Renders a sentence. `{affiliate}` is a part or a member of the details, `{refused|customer}` a number of things. What
 * stands in brackets is left out if it names a member that is absent or none, or if its condition, as in `[hold? …]`, is false.
 */
function sentenceOf(template: string, details: Details, visit: Visit): Child {
  return template.split(/(\[[^\]]*\])/).map((piece) => {
    const [, condition, inner = ''] = /^\[(?:(\w+)\? )?(.*)\]$/s.exec(piece) ?? []
    if (!piece.startsWith('[')) return filled(piece, details, visit).parts
    const { parts, isWhole } = filled(inner, details, visit)
    return isWhole && (condition === undefined || details[condition]) ? parts : null
  })
}

/** Fills in the placeholders of a piece of a sentence. */
function filled(piece: string, details: Details, visit: Visit) {
  let isWhole = true
  const parts = piece.split(/\{([^}]*)\}/).map((part, i) => {
    if (i % 2 === 0) return part
    const shown = PARTS[part] ? PARTS[part](details, visit) : memberOf(details, part)
    if (shown === null || (typeof shown === 'string' && shown.startsWith('0 '))) isWhole = false
    return shown
  })
  return { parts, isWhole }
}

const REASON = '[, because: “{reason}”]'
const HOLDS = '[leave_out_holds? , without the records that wait for a rate or a currency]'
const STOPPED = ({ reason }: Details) =>
  reason === 'gone'
    ? 'its server says that the address no longer exists'
    : 'every attempt to reach it failed'
const VERSIONED = ({ version }: Details) => (Number(version) > 1 ? 'changed' : 'created')

const replayed = ({ event, onlyDead }: Details) => {
  if (event) return 'sent one event to {endpoint} again'
  return `sent the events${onlyDead ? ' that had failed' : ''} from {from} to {to} to {endpoint} again`
}

function decided({ release, decision }: Details): string {
  if (release === true) return 'ended the hold of'
  return decision === 'confirmed' ? 'confirmed' : 'dismissed'
}

/** What each action says after the name of the member. */
const SENTENCES: Readonly<Record<string, string | ((details: Details) => string)>> = {
  'account.create': 'created the account “{name}”',
  'account.change': accountSentence,
  'account.lower-approvals':
    'asked that one person be enough to approve; another approver must ask for the same',
  'account.reset': 'deleted all records of the test account',
  'account.move.start': 'started to move the account from the database {source} to {target}',
  'account.moved': ({ pause_ms }) =>
    `moved the account from the database {source} to {target}; its writes were refused for ${Number(pause_ms) / 1000} seconds`,
  'account.move.cancel': 'cancelled the move of the account to the database {target}',
  'account.move.fail': 'could not move the account to the database {target}: {reason}',
  'account.move.confirm': 'asked to delete the old copy in the database {source}',
  'account.move.drop': 'deleted the old copy of the account in the database {source}',
  'archive.start': 'had the records of {month} archived',
  'archive.load': 'had the archived records of {month} loaded',
  'export.start': 'started an export for the warehouse',
  'affiliate-key.create': ({ scope }) =>
    `made the key “{name}” for the affiliate {affiliate}${scope === 'read links' ? ', which can also make links and postbacks' : ''}.[ {overlap}]`,
  'affiliate-key.end': 'ended the key “{name}” of the affiliate {affiliate}',
  'affiliate.delete': 'deleted the affiliate {affiliate}',
  'affiliates.put': ({ affiliates, added }) =>
    `${affiliates === added ? 'added' : 'stored'} {affiliates|affiliate}: {names of affiliates}`,
  'affiliations.put': `corrected who referred {customer}${REASON}`,
  'assignment.delete': 'removed the plan {plan} from {affiliate}, which had it from {from}',
  'assignments.put': 'assigned plans to {assignments|affiliate}',
  'brand-token.regenerate': 'made a new token of the brand.[ {overlap}]',
  'brand-token.revoke': 'ended a token of the brand',
  'client.issue': 'issued credentials: the client {client}',
  'client.revoke': 'ended the credentials of the client {client}',
  'client.rotate': 'replaced the secret of the client {client}.[ {overlap}]',
  'customer.erase': 'erased the personal data of {customer}',
  'erasures.replay': 'repeated the erasure of {customers|customer} after a restore',
  'event-definition.delete': 'deleted the definition of the event “{eventname}”',
  'event-definition.put': 'defined the event “{eventname}”',
  'fraud-rule.disable': 'disabled the fraud rule {fraud rule} from {from} on',
  'fraud-rule.put': (details) =>
    `${VERSIONED(details)} the fraud rule {fraud rule}: version {version} from {effective_from}, which ${ruleAction(details)}`,
  'fraud-rule.run': ({ cases_opened, cases_closed }) =>
    `evaluated the fraud rules: ${counted(cases_opened, 'case')} opened, ${counted(cases_closed, 'case')} closed`,
  'fraud-rule.withdraw':
    'withdrew version {version} of the fraud rule {fraud rule}, which was to start on {effective_from}',
  'fraud-case.decide': (details) =>
    `${decided(details)} {a case}[ and excluded {refused|customer} from commission][keep_hold? ; payouts stay held][waiting? ; another person must decide the same]${REASON}`,
  'fraud-case.hold':
    'evaluated the fraud rules: {a case} now holds the payouts of {affiliate} by the rule “{rule}”',
  'fraud-case.release': ({ because, holds }) =>
    `evaluated the fraud rules: a case that nobody has decided no longer holds payouts of {affiliate} by the rule “{rule}”, since ${ENDED[String(because)] ?? 'its records have changed or are gone'}${holds === true ? '; they stay held until two persons have decided the case or acknowledged this' : ''}`,
  'fraud-case.acknowledge': ({ waiting }) =>
    `looked at the end of the hold on {affiliate} by the rule “{rule}”[waiting? ; another person must acknowledge it too]${waiting === false ? ', which ends it' : ''}${REASON}`,
  'fraud-case.note': 'wrote a note about {a case}',
  'fx-rates.put':
    'stored exchange rates of the European Central Bank for {first_day} to {last_day}[: {created|new rate}][, {corrected|rate} corrected]',
  'kyc_status_id.put': 'set what the values of the KYC status mean',
  'sales_status_id.put': 'set what the values of the sales status mean',
  'status.put': 'set what the values of the transaction status mean',
  'link.change': 'changed a link',
  'link.create': 'created a link of {affiliate} to {landing_page}',
  'affiliate-invitation.create': ({ member }) =>
    `invited ${member ? 'a member again' : 'a person'} for {affiliate}`,
  'affiliate-invitation.end': 'ended an invitation of {affiliate}',
  'affiliate-member.join': 'registered a passkey by an invitation of {affiliate}',
  'affiliate-member.remove': 'removed a member of {affiliate}',
  'affiliate-passkey.add': 'added a passkey of a member of {affiliate}',
  'affiliate-passkey.remove': 'removed a passkey of a member of {affiliate}',
  'affiliate-view.begin': 'looked at the portal as {affiliate}',
  'affiliate-question.ask': 'asked a {question}',
  'affiliate-question.add': 'wrote more about a {question}',
  'affiliate-question.answer': 'answered a {question}',
  'affiliate-question.close': 'closed a {question}',
  'affiliate-question.open': 'opened a {question} again',
  'manual.add': `added {amount} to the balance of {affiliate}${REASON}`,
  'payouts.book': ({ paid, returned }) =>
    `booked [{paid|payment}]${Number(paid) > 0 && Number(returned) > 0 ? ' and ' : ''}[{returned|returned payment}] for {statements|statement}`,
  'period.approve': `approved {period} of the plan {plan}${HOLDS}`,
  'period.close': 'closed {period} of the plan {plan}',
  'period.run': 'had {the statements} of {period} computed',
  'plan.put': (details) =>
    `${VERSIONED(details)} the plan {plan}: version {version} from {effective_from}`,
  'plan.withdraw':
    'withdrew version {version} of the plan {plan}, which was to start on {effective_from}',
  'refusal.delete': 'lets {customer} earn commission again',
  'refusal.put': `excluded {customer} from commission[ from {from}]${REASON}`,
  'statement.approve': `approved {a statement}${HOLDS}`,
  'statement.pay':
    'marked {a statement} as paid: {amount} on {paid_on}[, reference “{reference}”][override?  although the fraud review holds it, because: “{override reason}”]',
  'statement.return': `recorded that the payment “{payment}” of {amount} came back on {returned_on}${REASON}`,
  'postback.change': 'changed {endpoint}',
  'postback.create': 'created {endpoint} to {host}',
  'postback.delete': 'deleted {endpoint}',
  'postback.disable': (details) => `stopped {endpoint}, because ${STOPPED(details)}`,
  'postback.replay': replayed,
  'postback.test': 'sent a test event to {endpoint}',
  'webhook.change': 'changed {endpoint}',
  'webhook.create': 'created {endpoint} to {host}',
  'webhook.delete': 'deleted a webhook',
  'webhook.disable': (details) => `disabled {endpoint}, because ${STOPPED(details)}`,
  'webhook.replay': replayed,
  'webhook.rotate': 'replaced the secret of {endpoint}.[ {overlap}]',
  'webhook.test': 'sent a test event to {endpoint}',
}

/** What actions changed, if the log has it. */
const CHANGES: Readonly<Record<string, Changed>> = {
  'account.create': settingsBut('name', 'account'),
  'account.change': accountChanges,
  'affiliates.put': (details) => [
    ...objects(details.before).map((one) => ({
      what: (
        <>
          Former parent of <Data text={text(one, 'affiliate_id')} />
        </>
      ),
      after: historyWords(one.parents, 'parent'),
    })),
    ...objects(details.profiles).flatMap(profileChanges),
  ],
  'affiliations.put': ({ before, affiliations }) => [
    {
      what: 'Affiliate',
      before: historyWords(before, 'affiliate_id'),
      after: historyWords(affiliations, 'affiliate_id'),
    },
  ],
  'assignments.put': assignmentChanges,
  'event-definition.put': settingsBut('eventname'),
  'kyc_status_id.put': meanings('kyc_status_id'),
  'sales_status_id.put': meanings('sales_status_id'),
  'status.put': meanings('status'),
  'link.change': settingsBut('link_id'),
  'postback.change': settingsBut('id', 'affiliate_id'),
  'webhook.change': settingsBut('id'),
}

/** Returns whether an action has a sentence of its own. */
export const hasSentence = (action: string): boolean => Object.hasOwn(SENTENCES, action)

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
export const NamedActor = async (props: { visit: Visit; actor: string; role?: string | null }) => {
  const { visit, actor, role } = props
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

const Changes = ({ changes }: { changes: readonly Difference[] }) => (
  <ul class="diff">
    {changes.map(({ what, before, after }) => (
      <li>
        {what}:{' '}
        {before !== undefined && (
          <>
            <del>{before}</del> →{' '}
          </>
        )}
        <ins>{after}</ins>
      </li>
    ))}
  </ul>
)

interface WordsProps {
  readonly visit: Visit
  readonly action: string
  readonly details: Details
}

/** Renders what an entry of the audit log says after the name of the member, and what it changed. */
export function AuditWords({ visit, action, details }: WordsProps) {
  const found = hasSentence(action) ? SENTENCES[action] : undefined
  const template = typeof found === 'function' ? found(details) : found
  const changes = template ? (CHANGES[action]?.(details, visit) ?? []) : settings(details)
  return (
    <>
      {template
        ? sentenceOf(template, details, visit)
        : titleOf(action.replaceAll(/[.-]/g, ' ')).toLowerCase()}
      {changes.length > 0 && <Changes changes={changes} />}
    </>
  )
}
