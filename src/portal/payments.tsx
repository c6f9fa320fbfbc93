import type { Context } from 'hono'
import { seePayments } from '../affiliates/db/affiliate-passkeys.ts'
import { respond } from '../pages/base/respond.ts'
import { Data } from '../pages/parts/data.tsx'
import { Table } from '../pages/parts/table.tsx'
import { listAffiliatePayouts } from '../payouts/own/money.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import { writeBatch } from '../platform/db/statement.ts'
import type { AnswerOf } from '../platform/http/operation.ts'
import { MemberPage, NextPage, SentenceList } from './member-page.tsx'
import { briefly, groupMoney, placeText, ToDo, unapprovedSentences } from './money.tsx'
import { StatementLink } from './statements.tsx'
import type { MemberVisit } from './visit.ts'

type Payment = AnswerOf<typeof listAffiliatePayouts>['data'][number]

const AT = '/payments'

/** Says what became of a payment. */
const paymentText = ({ paid_on, returned_on, reason }: Payment, visit: MemberVisit): string =>
  placeText(
    returned_on === null
      ? { state: 'paid', on: paid_on, reason, method: null }
      : { state: 'came_back', on: returned_on, reason, method: null },
    visit,
  )

/** Responds with where all is that is not paid, what comes next first, and with what was paid. */
export async function showPayments(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const { words, speech, hasMoved, db, session, now } = visit
  const [found] = await Promise.all([
    visit.call(listAffiliatePayouts, { cursor: c.req.query('cursor') }),
    hasMoved && writeBatch(db, [seePayments(db, session, new Date(now).toISOString())]),
  ])
  const sentences = unapprovedSentences(found, visit)
  const back = found.money.flatMap(({ state, on }) => (state === 'came_back' ? [on] : []))
  const isAsked = ({ returned_on }: Payment) => back.includes(returned_on)
  return respond(
    c,
    <MemberPage visit={visit} here="payments" title={words.payments}>
      <ToDo groups={groupMoney(found.money)} />
      <Table
        caption={words.not_paid}
        rows={found.money}
        columns={{
          [words.period]: (one) => <StatementLink id={one.statement} period={one.period} />,
          [words.state]: (one) => <Data text={placeText(briefly(one), visit)} />,
          [words.amount]: { number: ({ amount, currency }) => speech.money(amount, currency) },
        }}
        empty={<p>{words.nothing_due}</p>}
      />
      {sentences.length > 0 && <SentenceList sentences={sentences} />}
      <Table
        caption={words.paid_so_far}
        rows={found.data}
        columns={{
          [words.state]: (one) => (
            <Data text={paymentText(isAsked(one) ? { ...one, reason: null } : one, visit)} />
          ),
          [words.reference]: ({ reference }) => <Data text={reference} />,
          [words.amount]: { number: ({ amount, currency }) => speech.money(amount, currency) },
        }}
        empty={<p class="note">{words.no_payments}</p>}
      />
      <NextPage at={AT} cursor={found.meta.next_cursor} />
    </MemberPage>,
  )
}
