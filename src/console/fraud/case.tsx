import type { Child } from 'hono/jsx'
import { counted } from '../../commission/engine/reasons.ts'
import type { PresentedEvidence } from '../../fraud/case-evidence.ts'
import { getFraudCase, listFraudCustomers, listFraudEvidence } from '../../fraud/operations.ts'
import { type Page, useVisit, type Visit } from '../../pages/page.ts'
import { Badge, Data, Day, NOTHING, Pager, periodWords, Time } from '../../pages/parts/data.tsx'
import { DeferredPart } from '../../pages/parts/deferred.tsx'
import { AccountLink, type Pair, Pairs } from '../../pages/parts/fields.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { Amounts, nounOf } from '../../pages/parts/record-fields.tsx'
import { RecordLink } from '../../pages/parts/record-link.tsx'
import { Table } from '../../pages/parts/table.tsx'
import { DAY_MS, HOUR_MS } from '../../platform/durations.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { Actor } from '../affiliates/audit-words.tsx'
import { canManage, canPay } from '../books/payout-forms.tsx'
import { CustomerLink, CustomerLinks } from '../records/customer-parts.tsx'
import { Figures } from './case-figures.tsx'
import {
  addNote,
  DecideForm,
  decide,
  MOST_REFUSED,
  NoteForm,
  ReleaseForm,
  release,
} from './case-forms.tsx'
import {
  agoText,
  CaseStatusBadge,
  customersOf,
  expiryOf,
  HeldAmounts,
  isHolding,
  SEVERITY_WORDS,
  subjectText,
  WaitingBadge,
} from './case-parts.tsx'

// The records behind a case, down to their deliveries.

/** The values that are shown of each resource, and the fields whose labels and formats they have. */
const SHOWN: Readonly<Record<PresentedEvidence['resource'], Readonly<Record<string, string>>>> = {
  customers: { country_code: 'country_code' },
  transactions: { amount_currency: 'amount_currency' },
  'trading-activity': {
    lots_traded: 'lots_traded',
    pnl: 'pnl',
    drawdown: 'drawdown',
    max_drawdown: 'max_drawdown',
    spread_cost: 'spread_cost',
    commission: 'commission',
  },
  activities: { amount: 'Value' },
  statements: { total: 'amount_currency' },
}

/** Writes how long after the click a customer signed up; null if no click is known. */
function afterClick({ signup_date, clicked_at }: Readonly<Record<string, unknown>>): string | null {
  if (!signup_date || !clicked_at) return null
  const passed = Date.parse(String(signup_date)) - Date.parse(String(clicked_at))
  const [unit, one] = UNITS.find(([, length]) => passed >= 2 * length) ?? ['second', SECOND_MS]
  return `${counted(Math.max(0, Math.floor(passed / one)), unit)} after the click`
}

const SECOND_MS = 1000

const UNITS = [
  ['day', DAY_MS],
  ['hour', HOUR_MS],
  ['minute', 60 * SECOND_MS],
] as const

/** Renders the main values of a record. */
function Values({ resource, values, changed }: PresentedEvidence) {
  if (values === null) return <span class="quiet">Not in the database</span>
  const after = afterClick(values)
  const { currency, status } = values
  const shown = Object.entries(SHOWN[resource]).flatMap(([name, field]) => {
    const value = values[name] ?? null
    return value === null ? [] : [[field, String(value)] as const]
  })
  const isOpen = resource === 'transactions' && status && status !== 'approved'
  return (
    <>
      <Amounts
        amounts={Object.fromEntries(shown)}
        currency={typeof currency === 'string' ? currency : null}
      />{' '}
      {after !== null && <span class="figure">{after}</span>}
      {changed && <Badge tone="warn">Changed since</Badge>}
      {isOpen && (
        <Badge tone="quiet">
          <Data text={status} />
        </Badge>
      )}
    </>
  )
}

/** Renders what a record is, as a link to its page. */
function RecordName(
  { record }: { record: Omit<PresentedEvidence, 'delivery_id' | 'changed'> },
  visit = useVisit(),
): Child {
  const { resource, id, day, customer_id, values } = record
  if (resource === 'statements') {
    return (
      <AccountLink at={['statements', id]}>
        Statement {values?.period && <>of {periodWords(String(values.period))}</>}
      </AccountLink>
    )
  }
  if (resource === 'customers') return 'Signup'
  return (
    <>
      <Data text={nounOf(resource, values ?? {})} />{' '}
      <RecordLink
        account={visit.account}
        record={{ resource, id, day, customer_id: customer_id ?? '' }}
      />
    </>
  )
}

/** Renders a page of the records of a case. */
const Evidence = ({ found }: { found: AnswerOf<typeof listFraudEvidence> }, visit = useVisit()) => (
  <>
    <Table
      caption="Records, by day"
      rows={found.data}
      columns={{
        Record: (record) => <RecordName record={record} />,
        Day: 'day',
        Customer: ({ customer_id }) =>
          customer_id === null ? (
            NOTHING
          ) : (
            <CustomerLink account={visit.account} id={customer_id} />
          ),
        Values: Values,
        Delivery: ({ delivery_id }) =>
          delivery_id === null ? (
            NOTHING
          ) : (
            <AccountLink at={['deliveries', delivery_id]} children="Delivery" />
          ),
      }}
      empty={<p class="note">The records of this case are no longer stored.</p>}
    />
    <Pager meta={found.meta} />
  </>
)

/** A case with what persons decided and noted. */
type WholeCase = AnswerOf<typeof getFraudCase>
type Decision = WholeCase['decisions'][number]

/** A case on its page. */
interface ShownCase {
  readonly found: WholeCase
}

/** Renders the sentence of a case, its status and what it holds. */
const Head = ({ found }: ShownCase, visit = useVisit()) => {
  const { affiliate_id, rule, name, sentence, severity, status, opened_for, last_evidence_for } =
    found
  const customers = customersOf(found.subject)
  const pairs: Pair[] = [
    ['Affiliate', <AffiliateLink id={affiliate_id} />],
    [
      customers.length > 1 ? 'Customers' : 'Customer',
      customers.length > 0 ? <CustomerLinks ids={customers} /> : null,
    ],
    ['Severity', SEVERITY_WORDS[severity]],
    ['Holds', <HeldAmounts {...found} />],
    [
      'Rule',
      <AccountLink at={['fraud-rules', rule]}>
        <Data text={name} />
      </AccountLink>,
    ],
    [
      'Opened',
      <>
        <Day day={opened_for} /> <small>{agoText(opened_for, visit.today)}</small>
      </>,
    ],
    ['Last new record', <Day day={last_evidence_for} />],
  ]
  return (
    <>
      <div class="statement-head case-head">
        <p class="big">
          <span>
            <Data text={sentence} />
          </span>{' '}
          <CaseStatusBadge {...found} /> <WaitingBadge {...found} />
        </p>
        {status === 'open' && !isHolding(found) && (
          <p>
            If nobody decides it and no record is added, it expires on <Day day={expiryOf(found)} />
            .
          </p>
        )}
      </div>
      <Pairs pairs={pairs} />
      <p class="quick">
        <a href="#records">Records</a>
        <a href="#decide">Decision</a>
      </p>
    </>
  )
}

/** Renders a decision as a sentence. */
function DecisionWords({ found, one }: ShownCase & { one: Decision }) {
  const { decision, reason, keep_hold, refuse, from, actor, at } = one
  const what = one.ends_hold
    ? 'ended the hold'
    : `${decision === 'confirmed' ? 'confirmed' : 'dismissed'} the case`
  return (
    <li>
      <Time at={at} />
      <div>
        <Actor actor={actor} /> {what}: “<Data text={reason} />” <WaitingBadge {...one} />
        {found.status === 'open' && !one.waiting && (
          <p class="note">Records were added to the case since, so it does not count.</p>
        )}
        {keep_hold && <p class="note">The payouts stay held.</p>}
        {refuse.length > 0 && (
          <p class="note">
            Refused from {from === null ? 'the beginning' : <Day day={from} />}:{' '}
            <CustomerLinks ids={refuse} />
          </p>
        )}
      </div>
    </li>
  )
}

/** Renders the form by which a person decides next, or agrees with another person. */
function NextDecision(
  { found, customers }: ShownCase & { customers: AnswerOf<typeof listFraudCustomers> },
  visit = useVisit(),
) {
  const { decisions, status, keep_hold, evidence_total: shown } = found
  const proposal = decisions.findLast((one) => one.waiting) ?? null
  const isOwn = proposal?.actor === visit.member.actor
  const wait = isOwn && (
    <p class="note">You have decided. A second person must agree on this page.</p>
  )
  if (status === 'confirmed' && keep_hold) {
    return canPay(visit) && (wait || <ReleaseForm proposal={proposal} />)
  }
  if (status !== 'open') return null
  if (!canPay(visit)) return <p class="note">Only the role approver can decide a case.</p>
  return (
    <>
      {wait}
      <DecideForm
        found={found}
        shown={shown}
        customers={customers.data.map(({ customer_id }) => customer_id)}
        total={customers.meta.total}
        proposal={proposal}
      />
    </>
  )
}

/** Renders what persons decided and noted, and the forms for both. */
const Decisions = (
  props: ShownCase & { customers: AnswerOf<typeof listFraudCustomers> },
  visit = useVisit(),
) => {
  const { found } = props
  const { decisions, notes, status, affiliate_id } = found
  const hasRefused = status === 'confirmed' && decisions.some(({ refuse }) => refuse.length > 0)
  return (
    <>
      <h2 id="decide">Decision</h2>
      {decisions.length > 0 && (
        <ol class="log" aria-label="Decisions">
          {decisions.map((one) => (
            <DecisionWords found={found} one={one} />
          ))}
        </ol>
      )}
      {hasRefused && (
        <p class="notice">
          What was approved for the refused customers stays payable until the next statement takes
          it back. Approve that statement before you pay the affiliate:{' '}
          <AccountLink at={['payouts']} query={{ affiliate_id }} children="its payouts" />.
        </p>
      )}
      <NextDecision {...props} />
      <h2>Notes</h2>
      {notes.length === 0 && <p class="note">No notes yet.</p>}
      <ol class="log" aria-label="Notes">
        {notes.map(({ text, actor, at }) => (
          <li>
            <Time at={at} />
            <div>
              <Actor actor={actor} />: <Data text={text} />
            </div>
          </li>
        ))}
      </ol>
      {canManage(visit) && <NoteForm />}
    </>
  )
}

/** Reads and renders the records of a case, and its decision. */
async function renderRest(visit: Visit, found: WholeCase) {
  const { api, account, query } = visit
  const ofCase = { account, case_id: found.case_id }
  const [evidence, customers] = await Promise.all([
    api.call(listFraudEvidence, { ...ofCase, ...query }),
    api.call(listFraudCustomers, { ...ofCase, per_page: MOST_REFUSED }),
  ])
  return (
    <>
      <h2 id="records">{counted(found.evidence_total, 'record')} behind it</h2>
      <Evidence found={evidence} />
      <Decisions found={found} customers={customers} />
    </>
  )
}

/** One case: the figures, the records behind them, and its decision. */
export const casePage: Page = {
  path: '/accounts/:account/cases/:case_id',
  section: 'Cases',
  query: ['cursor'],
  changes: { decide, release, note: addNote },
  async render(visit) {
    const { api, account, params } = visit
    const found = await api.call(getFraudCase, { account, case_id: params.case_id ?? '' })
    const body = (
      <>
        <Head found={found} />
        <Figures {...found} />
        <DeferredPart />
      </>
    )
    return {
      title: `Case of ${await subjectText(visit, found)}`,
      body,
      computeDeferred: () => renderRest(visit, found),
    }
  },
}
