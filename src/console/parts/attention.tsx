import type { Child } from 'hono/jsx'
import { counted } from '../../commission/engine/reasons.ts'
import type { Attention } from '../../ingest/attention.ts'
import { accountPath, useVisit, type Visit, withQuery } from '../page.ts'
import { Badge, count, Data, periodWords, Time, titleOf } from './data.tsx'
import { deliveriesPath, refusedPath } from './deliveries.tsx'
import { AffiliateName } from './names.tsx'

// What needs attention, in sentences, each with one button that leads to the place that resolves it.

/** The maximum number of names that a sentence lists. */
const LISTED_NAMES = 5

const is = (number: number, one: string, others: string) => (number === 1 ? one : others)

/** Renders the names of an item after a colon; with a `visit`, they are ids of affiliates. */
const Names = ({ names }: Pick<Attention, 'names'>, visit = useVisit()) => (
  <>
    {names.slice(0, LISTED_NAMES).map((name, i) => (
      <>
        {i === 0 ? ': ' : ', '}
        {visit ? <AffiliateName id={name} /> : <Data text={name} />}
      </>
    ))}
    {names.length > LISTED_NAMES && ` and ${count(names.length - LISTED_NAMES)} more`}
  </>
)

/** Renders the resources of an item, such as `transactions and trading activity`. */
const Resources = ({ names }: Attention) => (
  <>{names.map((name) => titleOf(name.replaceAll('-', ' ')).toLowerCase()).join(' and ')}</>
)

/** What an item says, and where its button leads. */
interface Shown {
  readonly text: Child
  readonly button: string
  readonly to: string
}

type Show = (item: Attention, visit: Visit) => Shown

const SHOWN: Readonly<Record<Attention['code'], Show>> = {
  unapproved_drafts(item, { account }) {
    const [period] = item.names
    return {
      text: (
        <>
          <strong>{counted(item.count, 'statement')}</strong> {is(item.count, 'waits', 'wait')} for
          approval
          {period && (
            <>
              , {item.count === 1 ? 'for' : 'the oldest for'} {periodWords(period)}
            </>
          )}
          .
        </>
      ),
      button: period ? `Review ${periodWords(period)}` : 'Review them',
      to: withQuery(accountPath(account, 'statements'), { period, status: 'draft' }),
    }
  },
  waiting_for_rates: (item, { account }) => ({
    text: (
      <>
        <strong>{counted(item.count, 'amount')}</strong> {is(item.count, 'waits', 'wait')} for an
        exchange rate of {item.names.join(' or ')}, so nothing is paid for{' '}
        {is(item.count, 'it', 'them')} yet.
      </>
    ),
    button: 'Add rates',
    to: accountPath(account, 'rates'),
  }),
  returned_payments: (item, visit) => ({
    text: (
      <>
        <strong>{counted(item.count, 'payment')}</strong> came back and{' '}
        {is(item.count, 'is', 'are')} due again
        <Names names={item.names} />.
      </>
    ),
    button: is(item.count, 'Look at it', 'Look at them'),
    to: withQuery(accountPath(visit.account, 'payouts'), { returned: 'true' }),
  }),
  open_cases: (item, visit) => ({
    text: (
      <>
        <strong>{counted(item.count, 'case')}</strong> of high severity, or with held payouts,{' '}
        {is(item.count, 'waits', 'wait')} for a decision
        <Names names={item.names} />.
      </>
    ),
    button: is(item.count, 'Decide it', 'Decide them'),
    to: withQuery(accountPath(visit.account, 'cases'), { needs: 'decision' }),
  }),
  waiting_cases: (item, visit) => ({
    text: (
      <>
        <strong>{counted(item.count, 'case')}</strong> {is(item.count, 'waits', 'wait')} for a
        second person to agree
        <Names names={item.names} />.
      </>
    ),
    button: is(item.count, 'Look at it', 'Look at them'),
    to: withQuery(accountPath(visit.account, 'cases'), { needs: 'second_person' }),
  }),
  open_questions: (item, visit) => ({
    text: (
      <>
        <strong>{counted(item.count, 'question')}</strong> of affiliates{' '}
        {is(item.count, 'waits', 'wait')} for an answer
        <Names names={item.names} />.
      </>
    ),
    button: is(item.count, 'Answer it', 'Answer them'),
    to: accountPath(visit.account, 'questions'),
  }),
  too_large_affiliates: (item, visit) => ({
    text: (
      <>
        <strong>{counted(item.count, 'affiliate')}</strong> {is(item.count, 'has', 'have')} too many
        records for some fraud rules, which did not look at all of them
        <Names names={item.names} />.
      </>
    ),
    button: 'Show the cases',
    to: accountPath(visit.account, 'cases'),
  }),
  unconfigured_affiliates(item, { account }) {
    const [add, ...others] = item.names
    const only = others.length === 0 ? add : undefined
    return {
      text: (
        <>
          <strong>{counted(item.count, 'affiliate')}</strong> {is(item.count, 'has', 'have')}{' '}
          customers but {is(item.count, 'is', 'are')} not set up, so{' '}
          {is(item.count, 'it earns', 'they earn')} nothing
          <Names {...item} />.
        </>
      ),
      button: is(item.count, 'Set it up', 'Set them up'),
      to: withQuery(accountPath(account, 'affiliates'), { add: only }),
    }
  },
  refused_records: (item, visit) => ({
    text: (
      <>
        <strong>{counted(item.count, 'record')}</strong> {is(item.count, 'was', 'were')} refused in
        the last 24 hours: <Resources {...item} />.
      </>
    ),
    button: 'Show why',
    to: refusedPath(visit, [1, 0]),
  }),
  feed_late: (item, { account }) => ({
    text: (
      <>
        <strong>The activity of yesterday</strong> did not arrive in time: <Resources {...item} />.
        It still counts when it arrives.
      </>
    ),
    button: 'Show the deliveries',
    to: deliveriesPath(account, { resource: item.names[0] }),
  }),
  failing_webhooks: (item, { account }) => ({
    text: (
      <>
        <strong>{counted(item.count, 'webhook')}</strong> {is(item.count, 'has', 'have')} failed for
        a day, or {is(item.count, 'is', 'are')} disabled because of it
        <Names {...item} />.
      </>
    ),
    button: 'Show the webhooks',
    to: accountPath(account, 'webhooks'),
  }),
  failing_postbacks: (item, visit) => ({
    text: (
      <>
        <strong>{counted(item.count, 'postback')}</strong> of affiliates{' '}
        {is(item.count, 'has', 'have')} failed for a day, or {is(item.count, 'is', 'are')} stopped
        because of it
        <Names names={item.names} />.
      </>
    ),
    button: 'Show the affiliate',
    to: accountPath(visit.account, 'affiliates', item.names[0] ?? ''),
  }),
  held_records: (item, { account }) => ({
    text: (
      <>
        <strong>{counted(item.count, 'record')}</strong> {is(item.count, 'waits', 'wait')} for{' '}
        {is(item.count, 'its customer', 'their customers')} and {is(item.count, 'does', 'do')} not
        count until then.
      </>
    ),
    button: 'Show what waits',
    to: accountPath(account, 'held'),
  }),
  unmapped_statuses: (item, { account }) => ({
    text: (
      <>
        <strong>{counted(item.count, 'status').replace(/ss$/, 'ses')}</strong>{' '}
        {is(item.count, 'has', 'have')} no meaning, so records with {is(item.count, 'it', 'them')}{' '}
        earn nothing
        <Names {...item} />.
      </>
    ),
    button: 'Say what they mean',
    to: accountPath(account, 'mappings'),
  }),
  unknown_events: (item, { account }) => ({
    text: (
      <>
        <strong>{counted(item.count, 'event name')}</strong> {is(item.count, 'is', 'are')} close to
        a defined one but not the same, so plans pay nothing for {is(item.count, 'it', 'them')}
        <Names {...item} />.
      </>
    ),
    button: 'Define events',
    to: accountPath(account, 'mappings'),
  }),
  negative_amounts: (item, { account }) => ({
    text: (
      <>
        <strong>{counted(item.count, 'amount')}</strong> {is(item.count, 'has', 'have')} the wrong
        sign
        <Names {...item} />. {is(item.count, 'It counts', 'They count')} with it until corrected.
      </>
    ),
    button: 'Check the setting',
    to: accountPath(account, 'account'),
  }),
  implausible_times: (item, { account }) => ({
    text: (
      <>
        <strong>{counted(item.count, 'record')}</strong> {is(item.count, 'is', 'are')} dated before
        the year 2000 or later than tomorrow, so {is(item.count, 'it earns', 'they earn')} nothing.
      </>
    ),
    button: 'Show the deliveries',
    to: deliveriesPath(account),
  }),
  expiring_credentials: (item, { account }) => ({
    text: (
      <>
        <strong>A previous credential</strong> ends on <Time at={item.names[0] ?? null} />. The
        sender must use the new one before then.
      </>
    ),
    button: 'Show the credentials',
    to: accountPath(account, 'credentials'),
  }),
}

/** What affiliates are paid comes first, then what keeps records from counting. */
const ORDER = Object.keys(SHOWN)

/** Renders what needs the attention of an account: a sentence and a button each. */
export const AttentionList = (
  { items, isDisabled }: { isDisabled: boolean; items: readonly Attention[] },
  visit = useVisit(),
) => (
  <section class="attention">
    <h2>Needs attention</h2>
    {items.length === 0 && !isDisabled ? (
      <p>
        <Badge tone="good">Fine</Badge> Nothing needs attention.
      </p>
    ) : (
      <ul class="todo">
        {isDisabled && (
          <li>
            <p>
              <strong>The account is disabled.</strong> Its credentials are refused.
            </p>
            <a class="button" href={accountPath(visit.account, 'account')}>
              Open the settings
            </a>
          </li>
        )}
        {items
          .toSorted((a, b) => ORDER.indexOf(a.code) - ORDER.indexOf(b.code))
          .map((item) => {
            const { text, button, to } = SHOWN[item.code](item, visit)
            return (
              <li>
                <p>{text}</p>
                <a class="button" href={to}>
                  {button}
                </a>
              </li>
            )
          })}
      </ul>
    )}
  </section>
)
