import { getAccount } from '../../admin/accounts.ts'
import { counted } from '../../commission/engine/reasons.ts'
import type { PresentedEvidence } from '../../fraud/case-evidence.ts'
import type { presentWholeCase } from '../../fraud/present-case.ts'
import { accountPath, apiPath, type ChangedEvidence, type Page, type Visit } from '../page.ts'
import { Actor } from '../parts/audit-words.tsx'
import { Evidence, RecordName } from '../parts/case-evidence.tsx'
import { ComparedWith, Figures, renderPast } from '../parts/case-figures.tsx'
import {
  AgreeForm,
  AgreeReleaseForm,
  addNote,
  agree,
  DecideForm,
  decide,
  MOST_REFUSED,
  NoteForm,
  ReleaseForm,
  release,
} from '../parts/case-forms.tsx'
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
} from '../parts/cases.tsx'
import { Data, Day, type List, Time } from '../parts/data.tsx'
import { DeferredPart } from '../parts/deferred.tsx'
import { AccountLink, type Pair, Pairs } from '../parts/fields.tsx'
import { Refusal } from '../parts/forms.tsx'
import { AffiliateLink } from '../parts/names.tsx'
import { canManage, canPay } from '../parts/payout-forms.tsx'
import { computeTakenBack, type TakenBackByDraft, TakenBackWords } from '../parts/taken-back.tsx'

/** A case with what persons decided and noted. */
type WholeCase = ReturnType<typeof presentWholeCase>
type Decision = WholeCase['decisions'][number]

/** A case on its page. */
interface ShownCase {
  readonly visit: Visit
  readonly found: WholeCase
}

/** Says what becomes of a case if nobody decides it. */
const EndWords = ({ visit, found }: ShownCase) => (
  <>
    {found.hold_goes_on && (
      <>
        Its rule was changed and holds less, or nothing. The payouts stay held until two persons
        have decided the case, or{' '}
        <a href={`${accountPath(visit.account, 'cases')}#ended`}>acknowledged the end</a> of the
        hold.{' '}
      </>
    )}
    {found.status === 'open' && (
      <>
        If nobody decides it and no record is added,{' '}
        {isHolding(found) && !found.hold_goes_on ? 'its hold ends' : 'it expires'} on{' '}
        <Day day={expiryOf(found)} />.
      </>
    )}
  </>
)

/** Renders the sentence of a case, its status and what it holds. */
const Head = ({ visit, found }: ShownCase) => {
  const { affiliate_id, rule, name, sentence, severity, status, opened_for, last_evidence_for } =
    found
  const customers = customersOf(found.subject)
  const pairs: Pair[] = [
    ['Affiliate', <AffiliateLink visit={visit} id={affiliate_id} />],
    ...(customers.length > 0
      ? [
          [
            customers.length > 1 ? 'Customers' : 'Customer',
            customers.map((id, i) => (
              <>
                {i > 0 && ', '}
                <AccountLink visit={visit} at={['customers', id]}>
                  <Data text={id} />
                </AccountLink>
              </>
            )),
          ] as const,
        ]
      : []),
    ['Severity', SEVERITY_WORDS[severity]],
    ['Holds', <HeldAmounts {...found} />],
    [
      'Rule',
      <AccountLink visit={visit} at={['fraud-rules', rule]}>
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
        {(status === 'open' || found.hold_goes_on) && (
          <p>
            <EndWords visit={visit} found={found} />
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
function DecisionWords({ visit, found, one }: ShownCase & { one: Decision }) {
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
          <p class="note">The records of the case have changed since, so it no longer counts.</p>
        )}
        {keep_hold && <p class="note">The payouts stay held.</p>}
        {refuse.length > 0 && (
          <p class="note">
            Refused from {from === null ? 'the beginning' : <Day day={from} />}:{' '}
            {refuse.map((id, i) => (
              <>
                {i > 0 && ', '}
                <AccountLink visit={visit} at={['customers', id]}>
                  <Data text={id} />
                </AccountLink>
              </>
            ))}
          </p>
        )}
      </div>
    </li>
  )
}

/** Renders why a decision was refused whose form is gone, or whose records are not those that were shown. */
function DecisionRefused({ visit, found }: ShownCase) {
  const { refused } = visit
  if (refused?.change !== 'decide' && refused?.change !== 'agree') return null
  const { changed } = refused
  if (changed) return <EvidenceChanged visit={visit} changed={changed} />
  return found.status === 'open' ? null : <Refusal {...refused} />
}

/** Renders what changed of the records since the person saw them. */
const EvidenceChanged = ({
  visit,
  changed: { added, records },
}: {
  visit: Visit
  changed: ChangedEvidence
}) => (
  <div class="notice bad" role="alert" tabindex={-1} autofocus>
    <p>
      The records of the case have changed since you opened it. Nothing was decided. Look at them as
      they are now, and decide again.
    </p>
    {added === null ? (
      <p>Some were corrected, erased or sent late.</p>
    ) : (
      <>
        <p>{counted(added, 'record')} came in addition:</p>
        <ul>
          {records.map((one) => (
            <li>
              <RecordName visit={visit} record={{ ...one, values: {} }} />, <Day day={one.day} />
            </li>
          ))}
        </ul>
      </>
    )}
  </div>
)

/** Renders the forms by which a person decides next, or agrees with another person. */
function NextDecision({
  visit,
  found,
  customers,
}: ShownCase & { customers: List<{ customer_id: string }> }) {
  const { decisions, status, keep_hold, evidence_digest: shown } = found
  const waiting = decisions.filter((one) => one.waiting)
  const other = waiting.findLast(({ actor }) => actor !== visit.member.actor)
  if (status === 'confirmed' && keep_hold) {
    if (!canPay(visit) || (waiting.length > 0 && !other)) return null
    if (!other) return <ReleaseForm visit={visit} />
    return <AgreeReleaseForm visit={visit} proposal={other} />
  }
  if (status !== 'open') return null
  if (!canPay(visit)) return <p class="note">Only the role approver can decide a case.</p>
  const proposal = other ?? waiting.at(-1) ?? null
  const form = (
    <DecideForm
      visit={visit}
      found={found}
      shown={shown}
      customers={customers.data.map(({ customer_id }) => customer_id)}
      total={customers.meta.total}
      proposal={proposal}
    />
  )
  if (!proposal) return form
  return (
    <>
      {other ? (
        <AgreeForm visit={visit} found={found} shown={shown} proposal={other} />
      ) : (
        <p class="note">You have decided. A second person must agree on this page.</p>
      )}
      <details open={visit.refused?.change === 'decide'}>
        <summary>Decide otherwise</summary>
        {form}
      </details>
    </>
  )
}

/** Renders what persons decided and noted, and the forms for both. */
const Decisions = (
  props: ShownCase & { customers: List<{ customer_id: string }>; takenBack: TakenBackByDraft },
) => {
  const { visit, found, takenBack } = props
  const { decisions, notes } = found
  return (
    <>
      <h2 id="decide">Decision</h2>
      <DecisionRefused visit={visit} found={found} />
      {decisions.length > 0 && (
        <ol class="log" aria-label="Decisions">
          {decisions.map((one) => (
            <DecisionWords visit={visit} found={found} one={one} />
          ))}
        </ol>
      )}
      <TakenBackWords visit={visit} found={takenBack} />
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
      {canManage(visit) && <NoteForm visit={visit} />}
    </>
  )
}

/** Reads and renders the records of a case, its decision, and the affiliate's own past. */
async function renderRest({ visit, found }: ShownCase, vertical: string) {
  const { api, account, query } = visit
  const path = apiPath(account, 'cases', found.case_id, 'evidence')
  const [evidence, customers] = await Promise.all([
    api.get<List<PresentedEvidence>>(path, query),
    api.get<List<{ customer_id: string }>>(apiPath(account, 'cases', found.case_id, 'customers'), {
      per_page: MOST_REFUSED,
    }),
  ])
  const refused = found.status === 'confirmed' ? found.decisions.flatMap((one) => one.refuse) : []
  const [past, takenBack] = await Promise.all([
    renderPast(visit, found, { vertical, records: evidence.data }),
    refused.length > 0 ? computeTakenBack(visit, found.affiliate_id, refused) : [],
  ])
  return (
    <>
      <h2 id="records">{counted(found.evidence_total, 'record')} behind it</h2>
      <ComparedWith visit={visit} figures={found.figures} />
      <Evidence visit={visit} found={evidence} />
      {past}
      <Decisions visit={visit} found={found} customers={customers} takenBack={takenBack} />
    </>
  )
}

/** One case: the figures, the records behind them, and its decision. */
export const casePage: Page = {
  path: '/accounts/:account/cases/:case',
  section: 'Cases',
  hasNames: true,
  query: ['cursor'],
  changes: { decide, agree, release, note: addNote },
  async render(visit) {
    const { api, account, params } = visit
    const [found, { vertical }] = await Promise.all([
      api.get<WholeCase>(apiPath(account, 'cases', params.case ?? '')),
      api.call(getAccount, { account }),
    ])
    const shown = { visit, found }
    const body = (
      <>
        <Head {...shown} />
        <Figures {...found} />
        <DeferredPart />
      </>
    )
    return {
      title: `Case of ${await subjectText(visit, found)}`,
      body,
      computeDeferred: () => renderRest(shown, vertical),
    }
  },
}
