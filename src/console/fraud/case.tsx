import type { Child } from 'hono/jsx'
import { counted, figure, money } from '../../commission/words/english.ts'
import type { PresentedEvidence } from '../../fraud/case-evidence.ts'
import type { Figure } from '../../fraud/kind.ts'
import { KINDS } from '../../fraud/kinds.ts'
import { DECISION_LIMITS } from '../../fraud/limits.ts'
import { decideFraudCase } from '../../fraud/operations/fraud-decisions.ts'
import { getFraudCase, listFraudEvidence } from '../../fraud/operations.ts'
import { type Page, type Values as Sent, useVisit, type Visit } from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import {
  Badge,
  Data,
  Day,
  isolated,
  NOTHING,
  Pager,
  periodWords,
  Time,
  titleOf,
} from '../../pages/parts/data.tsx'
import { Deferred } from '../../pages/parts/deferred.tsx'
import { AccountLink, type Pair, Pairs } from '../../pages/parts/fields.tsx'
import { ChangeForm, Field, FoldedForm, NeedsRole, Ticks } from '../../pages/parts/forms.tsx'
import { AffiliateLink } from '../../pages/parts/names.tsx'
import { FieldValue, labelOf, nounOf, shownNames } from '../../pages/parts/record-fields.tsx'
import { RecordLink } from '../../pages/parts/record-link.tsx'
import { Table } from '../../pages/parts/table.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { Actor } from '../affiliates/audit-words.tsx'
import { canPay } from '../books/sums.ts'
import { CustomerLink, CustomerLinks } from '../records/customer-parts.tsx'
import {
  BankDetailsOf,
  CaseStatusBadge,
  customersOf,
  DECISION_HINT,
  DECISIONS,
  type FraudCase,
  HeldAmounts,
  isHolding,
  subjectText,
  WaitingBadge,
} from './case-parts.tsx'

// The records behind a case, down to their deliveries.

/** The values that the name of a record has, or that are the same for all of a case. */
const NAMED = ['affiliate_id', 'transaction_type', 'eventname', 'instrument', 'plan', 'period']

/** Renders the main values of a record. */
const Values = ({ values, changed }: PresentedEvidence): Child =>
  values === null ? (
    <span class="quiet">Not in the database</span>
  ) : (
    <>
      {shownNames(values, NAMED).map((name) => (
        <span class="figure">
          {labelOf(name)} <FieldValue name={name} record={values} />
        </span>
      ))}{' '}
      {changed && <Badge tone="warn">Changed since</Badge>}
    </>
  )

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
  if (resource === 'payees') return <BankDetailsOf id={id} />
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
const Evidence = (
  { found, since }: { found: AnswerOf<typeof listFraudEvidence>; since: string },
  visit = useVisit(),
) => (
  <>
    <Table
      caption="Records, by day"
      rows={found.data}
      columns={{
        Record: (record) => (
          <>
            <RecordName record={record} />{' '}
            {record.day < since && <Badge tone="quiet">Not in these figures</Badge>}
          </>
        ),
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

/** A case with what persons decided. */
type WholeCase = AnswerOf<typeof getFraudCase>
type Decision = WholeCase['decisions'][number]

interface DecisionProps {
  readonly found: WholeCase
}

// The figures of a case beside their thresholds.

/** Writes a value of a figure with its unit: `80 %`, `1,200.00 EUR`, `3 days`. */
function figureText(value: string, unit: string): string {
  if (unit === 'percent') return `${figure(value)} %`
  if (unit === 'points') return `${figure(value)} percentage points`
  if (/^[A-Z]{3}$/.test(unit)) return money(value, unit)
  return unit.endsWith('s') && /^\d+$/.test(value)
    ? counted(Number(value), unit.slice(0, -1))
    : `${figure(value)} ${unit}`.trim()
}

/** What a value is, compared with its threshold. */
const COMPARISONS: Readonly<Record<Figure['comparison'], string>> = {
  at_least: 'at least',
  at_most: 'at most',
  more_than: 'more than',
  less_than: 'less than',
}

const TITLES: Readonly<Record<string, string>> = Object.assign(
  {},
  ...KINDS.map((one) => one.titles),
)

/** Says what a figure was compared with. */
const thresholdText = ({ comparison, threshold, unit, threshold_is }: Figure): string => {
  const text = `${COMPARISONS[comparison]} ${figureText(threshold, unit)}`
  return threshold_is ? `${text} (${threshold_is})` : text
}

/** Renders what a rule compared, each beside its threshold. */
const Figures = ({ figures }: Pick<WholeCase, 'figures'>) => (
  <Table
    caption="What was compared"
    rows={figures}
    columns={{
      Figure: ({ name }) => TITLES[name] ?? titleOf(name),
      Found: { number: ({ value, unit }) => <strong>{figureText(value, unit)}</strong> },
      Threshold: thresholdText,
    }}
  />
)

/** Renders the sentence of a case, its status and what it holds. */
const Head = ({ found }: { found: WholeCase }) => {
  const { affiliate_id, rule, name, sentence, severity, opened_for, last_evidence_for } = found
  const customers = customersOf(found.subject)
  const pairs: Pair[] = [
    ['Affiliate', <AffiliateLink id={affiliate_id} />],
    [
      customers.length > 1 ? 'Customers' : 'Customer',
      customers.length > 0 ? <CustomerLinks ids={customers} /> : null,
    ],
    ['Severity', titleOf(severity)],
    ['Holds', <HeldAmounts {...found} />],
    [
      'Rule',
      <AccountLink at={['fraud-rules', rule]}>
        <Data text={name} />
      </AccountLink>,
    ],
    ['Opened', <Day day={opened_for} />],
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
function DecisionWords({ found, one }: { found: WholeCase; one: Decision }) {
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

// The forms that decide a case.

const refuseName = (position: number): string => `refuse${position}`

const readRefused = (values: Sent): string[] =>
  Array.from({ length: DECISION_LIMITS.refused }, (_, i) => values(refuseName(i))).filter(Boolean)

const WAITS = 'Your decision is recorded. A second person must agree before it takes effect.'

/** Decides a case. */
const decide = calling(
  decideFraudCase,
  (answer) => ((answer as FraudCase).status === 'open' ? WAITS : 'The case is decided.'),
  (values) => {
    const refuse = readRefused(values)
    return refuse.length > 0 ? { refuse } : { from: undefined }
  },
)

/** Ends the hold that the decision of a case has kept. */
const release = calling(
  decideFraudCase,
  (answer) => ((answer as FraudCase).keep_hold ? WAITS : 'The hold is ended.'),
  () => ({ decision: 'confirmed' }),
)

/** Says who else has decided the case: the form begins with what they decided. */
const Proposed = ({ proposal: { actor, at } }: { proposal: Decision }) => (
  <p>
    <Actor actor={actor} /> proposed this on <Time at={at} />. Once another person records the same,
    it takes effect.
  </p>
)

/** Renders the form that decides a case. It begins with what another person has decided. */
const DecideForm = (
  { found, proposal }: DecisionProps & { proposal: Decision | null },
  { refused } = useVisit(),
) => {
  const sent = refused?.change === 'decide' ? refused.values : null
  const ticked = sent ? readRefused(sent) : (proposal?.refuse ?? [])
  const ids = found.customers
  return (
    <ChangeForm change="decide" submit="Record the decision" needs="approver">
      {proposal && <Proposed proposal={proposal} />}
      <input type="hidden" name="shown" value={found.evidence_total} />
      <Field
        change="decide"
        name="decision"
        required
        value={proposal?.decision}
        options={DECISIONS}
      />
      <div class="short">
        <Field
          change="decide"
          name="reason"
          type="area"
          required
          value={proposal?.reason}
          hint={DECISION_HINT}
        />
      </div>
      {isHolding(found) && (
        <Ticks
          title="Payouts"
          ticks={[
            {
              name: 'keep_hold',
              value: 'yes',
              label: 'Go on holding the payouts',
              isTicked: sent ? sent('keep_hold') !== '' : proposal?.keep_hold,
            },
          ]}
          hint="Only of a case that is confirmed. Otherwise the decision ends the hold."
        />
      )}
      {ids.length > 0 && (
        <>
          <Ticks
            title="Refuse customers"
            ticks={ids.map((id, position) => ({
              name: refuseName(position),
              value: id,
              label: <Data text={id} />,
              isTicked: ticked.includes(id),
              spoken: `Refuse ${isolated(id)}`,
            }))}
            hint="Customers with records in this case; refuse others on their pages. Nobody earns commission from a refused customer. What was approved for them is taken back by the next statements. Their page ends the refusal."
          />
          <Field
            change="decide"
            name="from"
            label="Refuse them from"
            type="date"
            value={proposal?.from ?? undefined}
            hint="Their first day without commission. Empty: from the beginning."
          />
        </>
      )}
    </ChangeForm>
  )
}

/** Renders the form that ends the hold of a confirmed case; `proposal` is that of another person. */
const ReleaseForm = ({ proposal }: { proposal: Decision | null }) => (
  <FoldedForm
    change="release"
    submit="End the hold"
    needs="approver"
    isOpen={proposal !== null}
    fields={[
      {
        name: 'reason',
        type: 'area',
        required: true,
        value: proposal?.reason,
        hint: 'The case stays confirmed. The case and the audit log show the reason.',
      },
    ]}
  >
    {proposal && <Proposed proposal={proposal} />}
  </FoldedForm>
)

/** Renders the form by which a person decides next, or agrees with another person. */
function NextDecision(props: DecisionProps, visit = useVisit()) {
  const { decisions, status, keep_hold } = props.found
  const proposal = decisions.findLast((one) => one.waiting) ?? null
  const isOwn = proposal?.actor === visit.member.actor
  const wait = isOwn && (
    <p class="note">You have decided. A second person must agree on this page.</p>
  )
  if (status === 'confirmed' && keep_hold) {
    return canPay(visit) && (wait || <ReleaseForm proposal={proposal} />)
  }
  if (status !== 'open') return null
  if (!canPay(visit)) return <NeedsRole needs="approver" what="decide the case" />
  return (
    <>
      {wait}
      <DecideForm {...props} proposal={proposal} />
    </>
  )
}

/** Renders what persons decided, and the form for it. */
const Decisions = (props: DecisionProps) => {
  const { found } = props
  const { decisions, status } = found
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
          <AccountLink at={['payouts']} children="To pay" />.
        </p>
      )}
      <NextDecision {...props} />
    </>
  )
}

/** Reads and renders the records of a case, and its decision. */
async function renderRest(visit: Visit, found: WholeCase) {
  const { api, account, query } = visit
  const ofCase = { account, case_id: found.case_id, ...query }
  const evidence = await api.call(listFraudEvidence, ofCase)
  return (
    <>
      <h2 id="records">{counted(found.evidence_total, 'record')} behind it</h2>
      <Evidence found={evidence} since={found.evidence_since} />
      <Decisions found={found} />
    </>
  )
}

/** One case: the figures, the records behind them, and its decision. */
export const casePage: Page = {
  path: '/accounts/:account/cases/:case_id',
  shows: 'affiliate',
  section: 'Cases',
  query: ['cursor'],
  changes: { decide, release },
  async render(visit) {
    const { api, account, params } = visit
    const found = await api.call(getFraudCase, { account, case_id: params.case_id ?? '' })
    const body = (
      <>
        <Head found={found} />
        <Figures {...found} />
        <Deferred part={() => renderRest(visit, found)} />
      </>
    )
    return { title: `Case of ${await subjectText(visit, found)}`, body }
  },
}
