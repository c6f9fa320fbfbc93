import { acknowledgeEndedHold, listEndedHolds } from '../../admin/ended-holds.ts'
import { counted } from '../../commission/engine/reasons.ts'
import { EXPIRE_DAYS } from '../../durations.ts'
import type { AnswerOf } from '../../http/operation.ts'
import type { Change, Visit } from '../page.ts'
import { Actor } from './audit-words.tsx'
import { subjectText, WaitingBadge } from './cases.tsx'
import { CustomerLink } from './customers.tsx'
import { Badge, Data, Day, isolated, type List, Time } from './data.tsx'
import { AccountLink } from './fields.tsx'
import { FoldedForm } from './forms.tsx'
import { AffiliateLink } from './names.tsx'

// Holds of payouts that ended without a decision, until an approver has looked at each.

type EndedHold = AnswerOf<typeof listEndedHolds>['data'][number]

/** The holds that the page of cases shows. */
const SHOWN = 20

/** Reads the latest holds that ended. */
export const readEndedHolds = ({ api, account }: Visit): Promise<List<EndedHold>> =>
  api.call(listEndedHolds, { account, per_page: SHOWN })

/** Notes that an approver has looked at the end of a hold. */
export const acknowledge: Change = {
  done: (answer) =>
    `It is noted that you have looked at the end of the hold. ${(answer as { message?: string }).message ?? ''}`.trim(),
  perform: (values, { api, account }) => {
    const [case_id, reason] = [values('case_id'), values('reason').trim()]
    return api.call(acknowledgeEndedHold, { account, case_id, reason })
  },
}

const REASONS = {
  records: 'records of the case were corrected, erased or given to another affiliate',
  rule: 'its rule was changed, and finds or holds less',
  expired: `nobody decided the case within ${EXPIRE_DAYS} days`,
} as const

/** Says why a hold ended. */
function Because({ visit, found }: { visit: Visit; found: EndedHold }) {
  const { moved, because } = found
  if (moved === null) return <>{REASONS[because]}</>
  return (
    <>
      the customer <CustomerLink account={visit.account} id={moved.customer_id} />{' '}
      {moved.affiliate_id === null ? (
        'was taken from the affiliate'
      ) : (
        <>
          was moved to <AffiliateLink visit={visit} id={moved.affiliate_id} />
        </>
      )}
      ,{' '}
      {moved.from === null ? (
        'from the beginning'
      ) : (
        <>
          from <Day day={moved.from} /> on
        </>
      )}
    </>
  )
}

/** Says what becomes of holds that go on. */
const GOES_ON =
  'This account requires two persons, so a change by one person frees nothing: the payouts stay held until two persons have acknowledged it here, or decided the case.'

/** Says that payouts stay held, and who has acknowledged that the hold ended. */
const StillHeld = ({ found: { goes_on, acknowledged } }: { found: EndedHold }) =>
  goes_on && (
    <>
      {' '}
      <Badge tone="bad">Still held</Badge>{' '}
      {acknowledged && (
        <>
          <Actor actor={acknowledged.actor} /> acknowledged it on <Time at={acknowledged.at} />: “
          <Data text={acknowledged.reason} />
          ”. <WaitingBadge waiting />
        </>
      )}
    </>
  )

/** Renders the holds that ended, and the form that acknowledges one; nothing if there are none. */
export async function EndedHolds({ visit, found }: { visit: Visit; found: List<EndedHold> }) {
  const { data, meta } = found
  if (data.length === 0) return null
  const rest = meta.total - data.length
  const subjects = await Promise.all(data.map((one) => subjectText(visit, one)))
  return (
    <div class="notice why" id="ended">
      <p>
        <strong>
          {counted(meta.total, 'hold')} of payouts ended without a decision. Look at{' '}
          {meta.total === 1 ? 'it' : 'each'} before you pay the affiliate.
        </strong>
        {data.some((one) => one.goes_on) && <> {GOES_ON}</>}
      </p>
      <ul>
        {data.map((one) => (
          <li>
            The hold on <AffiliateLink visit={visit} id={one.affiliate_id} /> ended on{' '}
            <Time at={one.ended_at} />, because <Because visit={visit} found={one} />. The rule “
            <Data text={one.name} />” had found:{' '}
            {one.is_case ? (
              <AccountLink visit={visit} at={['cases', one.case_id]}>
                <Data text={one.sentence} />
              </AccountLink>
            ) : (
              <Data text={one.sentence} />
            )}
            <StillHeld found={one} />
          </li>
        ))}
      </ul>
      {rest > 0 && <p class="note">{`${rest.toLocaleString('en')} earlier ones follow.`}</p>}
      <FoldedForm
        visit={visit}
        change="acknowledge"
        title={meta.total === 1 ? 'Acknowledge it' : 'Acknowledge one'}
        submit="I have looked at it"
        needs="approver"
        fields={[
          {
            name: 'case_id',
            label: 'Hold',
            required: true,
            options: data.map((one, i) => [one.case_id, `${subjects[i]}: ${isolated(one.name)}`]),
          },
          {
            name: 'reason',
            label: 'What you found',
            type: 'area',
            required: true,
            hint: 'The audit log shows it.',
          },
        ]}
      />
    </div>
  )
}
