import type { Context } from 'hono'
import { listStatements } from '../commission/operations/statements.ts'
import { respond } from '../pages/base/respond.ts'
import { Data } from '../pages/parts/data.tsx'
import { Table } from '../pages/parts/table.tsx'
import type { AppEnv } from '../platform/auth/authorize.ts'
import type { AnswerOf } from '../platform/http/operation.ts'
import { portalPath } from './layout.tsx'
import { MemberPage, NextPage } from './member-page.tsx'
import { readPlans } from './plans.ts'
import type { MemberVisit } from './visit.ts'
import { fill } from './words.ts'

/** A statement as an affiliate reads it. */
export type Statement = AnswerOf<typeof listStatements>['data'][number]

/** The path of the statements below that of the account's portal. */
export const STATEMENTS = '/statements'

/** Says what became of a statement: when it is payable, or how it was paid. */
export function outcomeText(
  { speech, words }: MemberVisit,
  { status, paid, payable_on, payable }: Statement,
): string {
  if (paid) {
    const { reference, paid_on } = paid
    return paid_on
      ? speech.text('paidOn', { day: speech.day(paid_on), reference })
      : speech.text('paid', { reference })
  }
  const state = status === 'draft' ? words.draft : words.approved
  // What is carried on has no day.
  if (payable.startsWith('-') || !/[1-9]/.test(payable)) return state
  const day = speech.day(payable_on)
  const due =
    status === 'draft' ? fill(words.payable_if_approved, { day }) : speech.text('payable', { day })
  return `${state} · ${due}`
}

/** Responds with the statements of the affiliate, the latest first. */
export async function showStatements(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const { words, account, speech } = visit
  const { data, meta } = await visit.call(listStatements, {
    order: 'latest',
    cursor: c.req.query('cursor'),
  })
  const plans = new Set(data.map(({ plan }) => plan))
  const { nameOf } = plans.size > 1 ? await readPlans(visit, [...plans]) : { nameOf: String }
  return respond(
    c,
    <MemberPage visit={visit} here="statements" title={words.statements}>
      <Table
        caption={words.statements}
        rows={data}
        columns={{
          [words.period]: ({ id, period }) => (
            <a href={portalPath(account.id, `${STATEMENTS}/${encodeURIComponent(id)}`)}>
              {speech.period(period)}
            </a>
          ),
          [speech.text('plan')]: plans.size > 1 && (({ plan }) => <Data text={nameOf(plan)} />),
          [words.state]: (one) => outcomeText(visit, one),
          [words.total]: { number: ({ total, currency }) => speech.money(total, currency) },
        }}
        empty={<p class="note">{words.no_statements}</p>}
      />
      <NextPage at={STATEMENTS} cursor={meta.next_cursor} />
    </MemberPage>,
  )
}
