import type { Context } from 'hono'
import { listAffiliatePayouts } from '../affiliates/books.ts'
import type { Money } from '../pages/parts/data.tsx'
import { Data } from '../pages/parts/data.tsx'
import { Table } from '../pages/parts/table.tsx'
import { respond } from '../pages/respond.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import type { AnswerOf } from '../platform/http/operation.ts'
import { MemberPage, NextPage, SentenceList } from './member-page.tsx'
import type { MemberVisit } from './visit.ts'
import { fill } from './words.ts'

type Payouts = AnswerOf<typeof listAffiliatePayouts>
type Payment = Payouts['data'][number]

/** What is due on a day; `payable_on` is null if it is due now. */
type Due = Payouts['due_by_day'][number]

/** Says what is due now, or on a later day. */
export const dueText = (
  { amount, currency, payable_on }: Due,
  { words, speech }: MemberVisit,
): string =>
  fill(payable_on === null ? words.due : words.due_on, {
    amount: speech.money(amount, currency),
    day: payable_on === null ? '' : speech.day(payable_on),
  })

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
  const money = ({ amount, currency }: Money) => speech.money(amount, currency)
  const due = [
    ...found.due_by_day.map((one) => dueText(one, visit)),
    ...found.under_review.map((one) => fill(words.pending_review, { amount: money(one) })),
  ]
  return respond(
    c,
    <MemberPage visit={visit} here="payments" title={words.payments}>
      {due.length > 0 ? <SentenceList sentences={due} /> : <p>{words.nothing_due}</p>}
      <Table
        caption={words.paid_so_far}
        rows={found.data}
        columns={{
          [words.state]: (one) => paymentText(one, visit),
          [words.reference]: ({ reference }) => <Data text={reference} />,
          [words.amount]: { number: money },
        }}
        empty={<p class="note">{words.no_payments}</p>}
      />
      <NextPage at={AT} cursor={found.meta.next_cursor} />
    </MemberPage>,
  )
}
