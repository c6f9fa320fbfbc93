import type { Context } from 'hono'
import { listAffiliatePayouts } from '../affiliates/books.ts'
import { respond } from '../pages/base/respond.ts'
import type { Money } from '../pages/parts/data.tsx'
import { Data } from '../pages/parts/data.tsx'
import { Table } from '../pages/parts/table.tsx'
import type { AppEnv } from '../platform/auth/authorize.ts'
import type { AnswerOf } from '../platform/http/operation.ts'
import { MemberPage, NextPage, SentenceList } from './member-page.tsx'
import type { MemberVisit } from './visit.ts'
import { fill } from './words.ts'

type Payouts = AnswerOf<typeof listAffiliatePayouts>
type Payment = Payouts['data'][number]

/** Says what is due, and what waits and why. */
export function owedSentences(
  owed: Omit<Payouts, 'data' | 'meta'>,
  { words, speech }: MemberVisit,
): string[] {
  const money = ({ amount, currency }: Money) => speech.money(amount, currency)
  return [
    ...owed.due.map((one) => fill(words.due, { amount: money(one) })),
    ...owed.hold_period.map((one) =>
      fill(words.pending_hold, {
        amount: money(one),
        period: speech.period(one.period),
        day: speech.day(one.payable_on),
      }),
    ),
    ...owed.unapproved.map((one) =>
      fill(words.pending_approval, { amount: money(one), period: speech.period(one.period) }),
    ),
    ...owed.below_minimum.map((one) => fill(words.pending_minimum, { amount: money(one) })),
    ...owed.under_review.map((one) => fill(words.pending_review, { amount: money(one) })),
  ]
}

const AT = '/payments'

/** Says what became of a payment. */
function paymentText({ paid_on, returned_on, reason }: Payment, { words, speech }: MemberVisit) {
  if (returned_on !== null) {
    return fill(words.payment_returned, { day: speech.day(returned_on), reason: reason ?? '' })
  }
  return paid_on === null ? words.paid : fill(words.payment_paid, { day: speech.day(paid_on) })
}

/** Responds with what is due, what is under review, and what was paid. */
export async function showPayments(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const { words, speech } = visit
  const found = await visit.call(listAffiliatePayouts, { cursor: c.req.query('cursor') })
  const owed = owedSentences(found, visit)
  return respond(
    c,
    <MemberPage visit={visit} here="payments" title={words.payments}>
      {owed.length > 0 ? <SentenceList sentences={owed} /> : <p>{words.nothing_due}</p>}
      <Table
        caption={words.paid_so_far}
        rows={found.data}
        columns={{
          [words.state]: (one) => paymentText(one, visit),
          [words.reference]: ({ reference }) => <Data text={reference} />,
          [words.amount]: { number: ({ amount, currency }) => speech.money(amount, currency) },
        }}
        empty={<p class="note">{words.no_payments}</p>}
      />
      <NextPage at={AT} cursor={found.meta.next_cursor} />
    </MemberPage>,
  )
}
