import type { Child } from 'hono/jsx'
import { parseAffiliateActor } from '../../auth/grant.ts'
import { listed } from '../../commission/engine/reasons.ts'
import type { Visit } from '../page.ts'
import {
  Amount,
  count,
  Data,
  Day,
  dayWords,
  isolated,
  Name,
  periodWords,
  titleOf,
  visible,
} from './data.tsx'
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

/** What an entry says after the name of the member. */
interface Words {
  readonly sentence: Child
  readonly changes?: readonly Difference[]
}

type Write = (details: Details, visit: Visit) => Words

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

const without = (details: Details, ...names: readonly string[]): Details =>
  Object.fromEntries(Object.entries(details).filter(([name]) => !names.includes(name)))

// An entry names an affiliate by its id: the log has no names of people.
const Affiliate = ({ visit, id }: { visit: Visit; id: string }) =>
  id === '*' ? (
    'all other affiliates'
  ) : (
    <AccountLink visit={visit} at={['affiliates', id]} children={<Data text={id} />} />
  )
const QuestionLink = ({ visit, details }: { visit: Visit; details: Details }) => (
  <>
    <AccountLink visit={visit} at={['questions', text(details, 'id')]} children="question" /> of{' '}
    <Affiliate visit={visit} id={text(details, 'affiliate_id')} />
  </>
)
const Customer = ({ visit, id }: { visit: Visit; id: string }) => (
  <>
    the customer <AccountLink visit={visit} at={['customers', id]} children={<Data text={id} />} />
  </>
)

const Statement = ({ visit, id }: { visit: Visit; id: string }) => (
  <AccountLink visit={visit} at={['statements', id]} children="a statement" />
)

const Case = ({ visit, id }: { visit: Visit; id: string }) => (
  <AccountLink visit={visit} at={['cases', id]} children="a case of the fraud review" />
)

const Webhook = ({ visit, id }: { visit: Visit; id: string }) => (
  <AccountLink visit={visit} at={['webhooks', id]} children="a webhook" />
)

const Quoted = ({ value }: { value: string }) => (
  <>
    “<Data text={value} />”
  </>
)

/** Renders a fraud rule by its name, or by its id. */
const FraudRule = ({ visit, details }: { visit: Visit; details: Details }) => (
  <AccountLink visit={visit} at={['fraud-rules', text(details, 'rule')]}>
    <Quoted value={text(details, 'name') || text(details, 'rule')} />
  </AccountLink>
)

/** Renders why something was done. Nothing if the log has no reason. */
const Reason = ({ details }: { details: Details }) =>
  text(details, 'reason') ? (
    <>
      , because: <Quoted value={text(details, 'reason')} />
    </>
  ) : null

/** Renders the number of a client or a token, which engineers compare with their settings. */
const Code = ({ id }: { id: string }) => <code>{id}</code>

const OVERLAPS: Readonly<Record<string, string>> = {
  none: 'The former one ended at once.',
  '1h': 'The former one stayed valid for 1 hour.',
  '24h': 'The former one stayed valid for 24 hours.',
  '7d': 'The former one stayed valid for 7 days.',
}

const overlapWords = (details: Details) => OVERLAPS[text(details, 'overlap')] ?? ''

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
  return [
    ...(changed.length > 0
      ? [
          {
            what: (
              <>
                {listed([first.charAt(0).toUpperCase() + first.slice(1), ...others])} of {id}
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
function AffiliateNames({ visit, details }: { visit: Visit; details: Details }) {
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
  (of: string, member: string): Write =>
  (details) => {
    const map = objectAt(details, member)
    const number = Object.keys(map).length
    return {
      sentence: `set what the values of the ${of} mean: ${counted(number, 'value')}`,
      changes: Object.entries(map).map(([word, means]) => ({
        what: <Data text={word} />,
        after: <Setting value={means} />,
      })),
    }
  }

const withHolds = (details: Details) =>
  details.leave_out_holds ? ', without the records that wait for a rate or a currency' : ''

const money = (details: Details): Child => (
  <Amount value={text(details, 'amount')} currency={text(details, 'currency')} />
)

const period = (details: Details) => periodWords(text(details, 'period'))

const viewWords = (name: string): FieldWords =>
  (VIEW_WORDS as Readonly<Record<string, FieldWords>>)[name] ?? { label: titleOf(name), hint: '' }

/** Returns what a choice of what affiliates see is called. */
const viewChoice = (name: string, value: unknown): string =>
  viewWords(name).choices?.[String(value)] ?? String(value)

function accountChange(details: Details, visit: Visit): Words {
  const { before: _, ...change } = details
  const isOnly = Object.keys(change).length === 1
  if (isOnly && change.disabled === true) return { sentence: 'disabled the account' }
  if (isOnly && change.disabled === false) return { sentence: 'enabled the account' }
  const former = objectAt(details, 'before')
  const { affiliate_view, ...others } = change
  const before = objectAt(former, 'affiliate_view')
  const seen = Object.entries(objectAt(change, 'affiliate_view')).filter(
    ([name, value]) => before[name] !== value,
  )
  return {
    sentence:
      affiliate_view && isOnly ? (
        'changed what affiliates see'
      ) : (
        <>
          changed <AccountLink visit={visit} at={['account']} children="the settings" /> of the
          account
        </>
      ),
    changes: [
      ...settings(others, former),
      ...seen.map(([name, value]) => ({
        what: viewWords(name).label,
        ...(name in before && { before: viewChoice(name, before[name]) }),
        after: viewChoice(name, value),
      })),
    ],
  }
}

/** Names the endpoint of an entry: a webhook, or a postback of an affiliate. */
const Endpoint = ({ visit, details }: { visit: Visit; details: Details }) =>
  details.affiliate_id ? (
    <>
      a postback of <Affiliate visit={visit} id={text(details, 'affiliate_id')} />
    </>
  ) : (
    <Webhook visit={visit} id={text(details, 'id')} />
  )

function replayed(details: Details, visit: Visit): Words {
  const hook = <Endpoint visit={visit} details={details} />
  if (details.event) return { sentence: <>sent one event to {hook} again</> }
  const day = (name: string) => dayWords(new Date(Number(details[name])).toISOString().slice(0, 10))
  const what = details.onlyDead ? 'the events that had failed' : 'the events'
  return {
    sentence: (
      <>
        sent {what} from {day('from')} to {day('to')} to {hook} again
      </>
    ),
  }
}

function booked({ paid, returned, statements }: Details): Words {
  const parts = [
    ...(Number(paid) > 0 ? [counted(paid, 'payment')] : []),
    ...(Number(returned) > 0 ? [counted(returned, 'returned payment')] : []),
  ]
  return {
    sentence: `booked ${parts.join(' and ')} for ${counted(statements, 'statement')}`,
  }
}

function rates(details: Details): Words {
  const { first_day, last_day, created, corrected } = details
  const days = `${dayWords(String(first_day))} to ${dayWords(String(last_day))}`
  const corrections = Number(corrected) > 0 ? `, ${counted(corrected, 'rate')} corrected` : ''
  return {
    sentence: `stored exchange rates of the European Central Bank for ${days}: ${counted(created, 'new rate')}${corrections}`,
  }
}

/** Returns what a version of a fraud rule does, in words. */
function ruleAction({ action, disabled }: Details): string {
  if (disabled === true) return 'disables it'
  return action === 'hold' ? 'holds payouts while its cases are open' : 'only lists its cases'
}

/** Returns why a case that nobody has decided no longer holds payouts, in words. */
function releaseReason({ because }: Details): string {
  if (because === 'expired') return 'it has had no new record in 90 days'
  return because === 'rule' ? 'the rule has changed' : 'its records have changed or are gone'
}

/** What each action says. */
const SENTENCES: Readonly<Record<string, Write>> = {
  'account.create': (details) => ({
    sentence: (
      <>
        created the account <Quoted value={text(details, 'name')} />
      </>
    ),
    changes: settings(without(details, 'name', 'account')),
  }),
  'account.change': accountChange,
  'account.lower-approvals': () => ({
    sentence: 'asked that one person be enough to approve; another approver must ask for the same',
  }),
  'account.reset': () => ({ sentence: 'deleted all records of the test account' }),
  'account.move.start': (details) => ({
    sentence: `started to move the account from the database ${text(details, 'source')} to ${text(details, 'target')}`,
  }),
  'account.moved': (details) => ({
    sentence: `moved the account from the database ${text(details, 'source')} to ${text(details, 'target')}; its writes were refused for ${Number(details.pause_ms) / 1000} seconds`,
  }),
  'account.move.cancel': (details) => ({
    sentence: `cancelled the move of the account to the database ${text(details, 'target')}`,
  }),
  'account.move.fail': (details) => ({
    sentence: `could not move the account to the database ${text(details, 'target')}: ${text(details, 'reason')}`,
  }),
  'account.move.confirm': (details) => ({
    sentence: `asked to delete the old copy in the database ${text(details, 'source')}`,
  }),
  'account.move.drop': (details) => ({
    sentence: `deleted the old copy of the account in the database ${text(details, 'source')}`,
  }),
  'archive.start': (details) => ({
    sentence: <>had the records of {period({ ...details, period: details.month })} archived</>,
  }),
  'archive.restore': (details) => ({
    sentence: (
      <>had the archived records of {period({ ...details, period: details.month })} brought back</>
    ),
  }),
  'export.start': () => ({ sentence: 'started an export for the warehouse' }),
  'affiliate-key.create': (details, visit) => ({
    sentence: (
      <>
        made the key <Quoted value={text(details, 'name')} /> for the affiliate{' '}
        <Affiliate visit={visit} id={text(details, 'affiliate_id')} />
        {details.scope === 'read links' && ', which can also make links and postbacks'}.{' '}
        {overlapWords(details)}
      </>
    ),
  }),
  'affiliate-key.end': (details, visit) => ({
    sentence: (
      <>
        ended the key <Quoted value={text(details, 'name')} /> of the affiliate{' '}
        <Affiliate visit={visit} id={text(details, 'affiliate_id')} />
      </>
    ),
  }),
  'affiliate.delete': (details, visit) => ({
    sentence: (
      <>
        deleted the affiliate{' '}
        {details.affiliate_id ? <Affiliate visit={visit} id={text(details, 'affiliate_id')} /> : ''}
      </>
    ),
  }),
  'affiliates.put': (details, visit) => ({
    sentence: (
      <>
        {details.affiliates === details.added ? 'added' : 'stored'}{' '}
        {counted(details.affiliates, 'affiliate')}:{' '}
        <AffiliateNames visit={visit} details={details} />
      </>
    ),
    changes: [
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
  }),
  'affiliations.put': (details, visit) => ({
    sentence: (
      <>
        corrected who referred <Customer visit={visit} id={text(details, 'customer_id')} />
        <Reason details={details} />
      </>
    ),
    changes: [
      {
        what: 'Affiliate',
        before: historyWords(details.before, 'affiliate_id'),
        after: historyWords(details.affiliations, 'affiliate_id'),
      },
    ],
  }),
  'assignment.delete': (details, visit) => ({
    sentence: (
      <>
        removed the plan <PlanLink visit={visit} id={text(details, 'plan')} /> from{' '}
        <Affiliate visit={visit} id={text(details, 'affiliate_id')} />, which had it from{' '}
        <Day day={text(details, 'from')} />
      </>
    ),
  }),
  'assignments.put': (details, visit) => ({
    sentence: `assigned plans to ${counted(details.assignments, 'affiliate')}`,
    changes: assignmentChanges(details, visit),
  }),
  'brand-token.regenerate': (details) => ({
    sentence: <>made a new token of the brand. {overlapWords(details)}</>,
  }),
  'brand-token.revoke': () => ({ sentence: 'ended a token of the brand' }),
  'client.issue': (details) => ({
    sentence: (
      <>
        issued credentials: the client <Code id={text(details, 'client_id')} />
      </>
    ),
  }),
  'client.revoke': (details) => ({
    sentence: (
      <>
        ended the credentials of the client <Code id={text(details, 'client_id')} />
      </>
    ),
  }),
  'client.rotate': (details) => ({
    sentence: (
      <>
        replaced the secret of the client <Code id={text(details, 'client_id')} />.{' '}
        {overlapWords(details)}
      </>
    ),
  }),
  'customer.erase': (details, visit) => ({
    sentence: (
      <>
        erased the personal data of <Customer visit={visit} id={text(details, 'customer_id')} />
      </>
    ),
  }),
  'erasures.replay': (details) => ({
    sentence: `repeated the erasure of ${counted(details.customers, 'customer')} after a restore`,
  }),
  'event-definition.delete': (details) => ({
    sentence: (
      <>
        deleted the definition of the event <Quoted value={text(details, 'eventname')} />
      </>
    ),
  }),
  'event-definition.put': (details) => ({
    sentence: (
      <>
        defined the event <Quoted value={text(details, 'eventname')} />
      </>
    ),
    changes: settings(without(details, 'eventname')),
  }),
  'fraud-rule.disable': (details, visit) => ({
    sentence: (
      <>
        disabled the fraud rule <FraudRule visit={visit} details={details} /> from{' '}
        <Day day={text(details, 'from')} /> on
      </>
    ),
  }),
  'fraud-rule.put': (details, visit) => ({
    sentence: (
      <>
        {Number(details.version) > 1 ? 'changed' : 'created'} the fraud rule{' '}
        <FraudRule visit={visit} details={details} />: version {text(details, 'version')} from{' '}
        <Day day={text(details, 'effective_from')} />, which {ruleAction(details)}
      </>
    ),
  }),
  'fraud-rule.run': (details) => ({
    sentence: `evaluated the fraud rules: ${counted(Number(details.cases_opened), 'case')} opened, ${counted(Number(details.cases_closed), 'case')} closed`,
  }),
  'fraud-rule.withdraw': (details, visit) => ({
    sentence: (
      <>
        withdrew version {text(details, 'version')} of the fraud rule{' '}
        <FraudRule visit={visit} details={details} />, which was to start on{' '}
        <Day day={text(details, 'effective_from')} />
      </>
    ),
  }),
  'fx-rates.put': rates,
  'kyc_status_id.put': meanings('KYC status', 'kyc_status_id'),
  'sales_status_id.put': meanings('sales status', 'sales_status_id'),
  'status.put': meanings('transaction status', 'status'),
  'link.change': (details) => ({
    sentence: 'changed a link',
    changes: settings(without(details, 'link_id', 'before'), objectAt(details, 'before')),
  }),
  'affiliate-invitation.create': (details, visit) => ({
    sentence: (
      <>
        invited {details.member ? 'a member again' : 'a person'} for{' '}
        <Affiliate visit={visit} id={text(details, 'affiliate_id')} />
      </>
    ),
  }),
  'affiliate-invitation.end': (details, visit) => ({
    sentence: (
      <>
        ended an invitation of <Affiliate visit={visit} id={text(details, 'affiliate_id')} />
      </>
    ),
  }),
  'affiliate-member.join': (details, visit) => ({
    sentence: (
      <>
        registered a passkey by an invitation of{' '}
        <Affiliate visit={visit} id={text(details, 'affiliate_id')} />
      </>
    ),
  }),
  'affiliate-member.remove': (details, visit) => ({
    sentence: (
      <>
        removed a member of <Affiliate visit={visit} id={text(details, 'affiliate_id')} />
      </>
    ),
  }),
  'affiliate-passkey.add': (details, visit) => ({
    sentence: (
      <>
        added a passkey of a member of{' '}
        <Affiliate visit={visit} id={text(details, 'affiliate_id')} />
      </>
    ),
  }),
  'affiliate-passkey.remove': (details, visit) => ({
    sentence: (
      <>
        removed a passkey of a member of{' '}
        <Affiliate visit={visit} id={text(details, 'affiliate_id')} />
      </>
    ),
  }),
  'affiliate-view.begin': (details, visit) => ({
    sentence: (
      <>
        looked at the portal as <Affiliate visit={visit} id={text(details, 'affiliate_id')} />
      </>
    ),
  }),
  'affiliate-question.ask': (details, visit) => ({
    sentence: (
      <>
        asked a <QuestionLink visit={visit} details={details} />
      </>
    ),
  }),
  'affiliate-question.add': (details, visit) => ({
    sentence: (
      <>
        wrote more about a <QuestionLink visit={visit} details={details} />
      </>
    ),
  }),
  'affiliate-question.answer': (details, visit) => ({
    sentence: (
      <>
        answered a <QuestionLink visit={visit} details={details} />
      </>
    ),
  }),
  'affiliate-question.close': (details, visit) => ({
    sentence: (
      <>
        closed a <QuestionLink visit={visit} details={details} />
      </>
    ),
  }),
  'affiliate-question.open': (details, visit) => ({
    sentence: (
      <>
        opened a <QuestionLink visit={visit} details={details} /> again
      </>
    ),
  }),
  'link.create': (details, visit) => ({
    sentence: (
      <>
        created a link of <Affiliate visit={visit} id={text(details, 'affiliate_id')} /> to{' '}
        <Data text={text(details, 'landing_page')} />
      </>
    ),
  }),
  'manual.add': (details, visit) => ({
    sentence: (
      <>
        added {money(details)} to the balance of{' '}
        <Affiliate visit={visit} id={text(details, 'affiliate_id')} />
        <Reason details={details} />
      </>
    ),
  }),
  'payouts.book': booked,
  'period.approve': (details, visit) => ({
    sentence: (
      <>
        approved {period(details)} of the plan <PlanLink visit={visit} id={text(details, 'plan')} />
        {withHolds(details)}
      </>
    ),
  }),
  'period.close': (details, visit) => ({
    sentence: (
      <>
        closed {period(details)} of the plan <PlanLink visit={visit} id={text(details, 'plan')} />
      </>
    ),
  }),
  'period.run': (details, visit) => ({
    sentence: (
      <>
        had{' '}
        <AccountLink
          visit={visit}
          at={['statements']}
          query={{ period: text(details, 'period') }}
          children="the statements"
        />{' '}
        of {period(details)} computed
      </>
    ),
  }),
  'plan.put': (details, visit) => ({
    sentence: (
      <>
        {Number(details.version) > 1 ? 'changed' : 'created'} the plan{' '}
        <PlanLink visit={visit} id={text(details, 'plan')} name={text(details, 'name')} />: version{' '}
        {text(details, 'version')} from <Day day={text(details, 'effective_from')} />
      </>
    ),
  }),
  'plan.withdraw': (details, visit) => ({
    sentence: (
      <>
        withdrew version {text(details, 'version')} of the plan{' '}
        <PlanLink visit={visit} id={text(details, 'plan')} />, which was to start on{' '}
        <Day day={text(details, 'effective_from')} />
      </>
    ),
  }),
  'refusal.delete': (details, visit) => ({
    sentence: (
      <>
        lets <Customer visit={visit} id={text(details, 'customer_id')} /> earn commission again
      </>
    ),
  }),
  'fraud-case.decide': (details, visit) => ({
    sentence: (
      <>
        {details.release === true
          ? 'ended the hold of'
          : details.decision === 'confirmed'
            ? 'confirmed'
            : 'dismissed'}{' '}
        <Case visit={visit} id={text(details, 'case')} />
        {Number(details.refused) > 0 && (
          <> and excluded {counted(details.refused, 'customer')} from commission</>
        )}
        {details.keep_hold === true && '; payouts stay held'}
        {details.waiting === true && '; another person must decide the same'}
        <Reason details={details} />
      </>
    ),
  }),
  'fraud-case.hold': (details, visit) => ({
    sentence: (
      <>
        evaluated the fraud rules: <Case visit={visit} id={text(details, 'case')} /> now holds the
        payouts of <Affiliate visit={visit} id={text(details, 'affiliate_id')} /> by the rule{' '}
        <Quoted value={text(details, 'rule')} />
      </>
    ),
  }),
  'fraud-case.release': (details, visit) => ({
    sentence: (
      <>
        evaluated the fraud rules: a case that nobody has decided no longer holds payouts of{' '}
        <Affiliate visit={visit} id={text(details, 'affiliate_id')} /> by the rule{' '}
        <Quoted value={text(details, 'rule')} />, since {releaseReason(details)}
        {details.holds === true &&
          '; they stay held until two persons have decided the case or acknowledged this'}
      </>
    ),
  }),
  'fraud-case.acknowledge': (details, visit) => ({
    sentence: (
      <>
        looked at the end of the hold on{' '}
        <Affiliate visit={visit} id={text(details, 'affiliate_id')} /> by the rule{' '}
        <Quoted value={text(details, 'rule')} />
        {details.waiting === true && '; another person must acknowledge it too'}
        {details.waiting === false && ', which ends it'}
        <Reason details={details} />
      </>
    ),
  }),
  'fraud-case.note': (details, visit) => ({
    sentence: (
      <>
        wrote a note about <Case visit={visit} id={text(details, 'case')} />
      </>
    ),
  }),
  'refusal.put': (details, visit) => ({
    sentence: (
      <>
        excluded <Customer visit={visit} id={text(details, 'customer_id')} /> from commission
        {details.from ? (
          <>
            {' '}
            from <Day day={text(details, 'from').slice(0, 10)} />
          </>
        ) : null}
        <Reason details={details} />
      </>
    ),
  }),
  'statement.approve': (details, visit) => ({
    sentence: (
      <>
        approved <Statement visit={visit} id={text(details, 'statement')} />
        {withHolds(details)}
      </>
    ),
  }),
  'statement.pay': (details, visit) => ({
    sentence: (
      <>
        marked <Statement visit={visit} id={text(details, 'statement')} /> as paid: {money(details)}{' '}
        on <Day day={text(details, 'paid_on')} />
        {details.reference ? (
          <>
            , reference <Quoted value={text(details, 'reference')} />
          </>
        ) : null}
        {details.override ? (
          <>
            {' '}
            although the fraud review holds it
            <Reason details={objectAt(details, 'override')} />
          </>
        ) : null}
      </>
    ),
  }),
  'statement.return': (details) => ({
    sentence: (
      <>
        recorded that the payment <Quoted value={text(details, 'payment')} /> of {money(details)}{' '}
        came back on <Day day={text(details, 'returned_on')} />
        <Reason details={details} />
      </>
    ),
  }),
  'postback.change': (details, visit) => ({
    sentence: (
      <>
        changed <Endpoint visit={visit} details={details} />
      </>
    ),
    changes: settings(without(details, 'id', 'affiliate_id')),
  }),
  'postback.create': (details, visit) => ({
    sentence: (
      <>
        created <Endpoint visit={visit} details={details} /> to{' '}
        <Data text={text(details, 'host')} />
      </>
    ),
  }),
  'postback.delete': (details, visit) => ({
    sentence: (
      <>
        deleted <Endpoint visit={visit} details={details} />
      </>
    ),
  }),
  'postback.disable': (details, visit) => ({
    sentence: (
      <>
        stopped <Endpoint visit={visit} details={details} />, because{' '}
        {details.reason === 'gone'
          ? 'its server says that the address no longer exists'
          : 'every attempt to reach it failed'}
      </>
    ),
  }),
  'postback.replay': replayed,
  'postback.test': (details, visit) => ({
    sentence: (
      <>
        sent a test event to <Endpoint visit={visit} details={details} />
      </>
    ),
  }),
  'webhook.change': (details, visit) => ({
    sentence: (
      <>
        changed <Webhook visit={visit} id={text(details, 'id')} />
      </>
    ),
    changes: settings(without(details, 'id')),
  }),
  'webhook.create': (details, visit) => ({
    sentence: (
      <>
        created <Webhook visit={visit} id={text(details, 'id')} /> to{' '}
        <Data text={text(details, 'host')} />
      </>
    ),
  }),
  'webhook.delete': () => ({ sentence: 'deleted a webhook' }),
  'webhook.disable': (details, visit) => ({
    sentence: (
      <>
        disabled <Webhook visit={visit} id={text(details, 'id')} />, because{' '}
        {details.reason === 'gone'
          ? 'its server says that the address no longer exists'
          : 'every attempt to reach it failed'}
      </>
    ),
  }),
  'webhook.replay': replayed,
  'webhook.rotate': (details, visit) => ({
    sentence: (
      <>
        replaced the secret of <Webhook visit={visit} id={text(details, 'id')} />.{' '}
        {overlapWords(details)}
      </>
    ),
  }),
  'webhook.test': (details, visit) => ({
    sentence: (
      <>
        sent a test event to <Webhook visit={visit} id={text(details, 'id')} />
      </>
    ),
  }),
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

function wordsOf({ visit, action, details }: WordsProps): Words {
  if (hasSentence(action) && SENTENCES[action]) return SENTENCES[action](details, visit)
  return {
    sentence: titleOf(action.replaceAll(/[.-]/g, ' ')).toLowerCase(),
    changes: settings(details),
  }
}

/** Renders what an entry of the audit log says after the name of the member, and what it changed. */
export function AuditWords(props: WordsProps) {
  const { sentence, changes = [] } = wordsOf(props)
  return (
    <>
      {sentence}
      {changes.length > 0 && <Changes changes={changes} />}
    </>
  )
}
