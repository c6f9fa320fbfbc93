import { counted } from '../../commission/words/english.ts'
import { Badge, Data, periodWords } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { type DoubtCode, type Reason, STOPPING } from '../../payouts/model.ts'
import type { getBatch } from '../../payouts/operations/batches.ts'
import type { listPayable } from '../../payouts/operations/payable.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { sumsText } from '../books/sums.ts'

/** A row of what has to be paid. */
export type PayableRow = AnswerOf<typeof listPayable>['data'][number]

type ShownDoubt = AnswerOf<typeof getBatch>['transfers'][number]['doubts'][number]

/** Why something cannot be paid, and where that is mended: at the affiliate if nothing else is said. */
const REASONS: Readonly<Record<Reason, readonly [words: string, page?: string | null]>> = {
  held: ['Held by the fraud review', 'cases'],
  no_payee: ['No bank details'],
  not_approved: ['Bank details wait for an approval'],
  changed: ['Bank details changed a short while ago'],
  blocked: ['Bank details are blocked'],
  suspended: ['The affiliate is suspended'],
  no_agreement: ['No agreement about invoices'],
  no_treatment: ['The tax treatment is not decided'],
  other_currency: ['Another currency than the account takes', null],
  other_method: ['Paid in another way: prepare another batch', null],
  next_batch: ['This batch is full: prepare another one', null],
  taken: ['Another batch pays it, or it is paid', 'batches'],
}

/** Renders why something cannot be paid, each with a link to what mends it. */
const Reasons = ({ affiliate_id, reasons }: Pick<PayableRow, 'affiliate_id' | 'reasons'>) => (
  <>
    {reasons.map((reason) => {
      const [words, page] = REASONS[reason]
      return (
        <div>
          {page === null ? (
            words
          ) : (
            <AccountLink
              at={page ? [page] : ['affiliates', affiliate_id]}
              query={page === 'cases' ? { affiliate_id, status: 'all' } : {}}
            >
              {words}
            </AccountLink>
          )}
        </div>
      )
    })}
  </>
)

const DOUBTS: Readonly<Record<DoubtCode, readonly [tone: 'bad' | 'warn', words: string]>> = {
  came_back: ['bad', 'Came back'],
  open_case: ['bad', 'Open case'],
  paid_twice: ['bad', 'Paid twice?'],
  details_changed: ['warn', 'New details'],
  first_payment: ['warn', 'First payment'],
  same_account: ['warn', 'Same account'],
  much_more: ['warn', 'Much more'],
}

/** Renders how much of rows waits for what: each statement for its own reason, or for the first one of its row. */
export function Waiting({ rows }: { rows: readonly PayableRow[] }) {
  const waiting = rows.flatMap(({ reasons: [ofRow], doubts, statements, ...row }) => {
    const stopping = doubts.find(({ code }) => STOPPING.includes(code))
    return statements.flatMap(({ amount, reasons: [reason = ofRow] }) => {
      const why = reason ? REASONS[reason][0] : stopping && DOUBTS[stopping.code][1]
      return why ? [{ ...row, amount, why }] : []
    })
  })
  if (waiting.length === 0) return null
  return (
    <ul class="note">
      {[...Map.groupBy(waiting, ({ why }) => why)].map(([why, own]) => (
        <li>
          {why}: {sumsText(own)} of{' '}
          {counted(new Set(own.map(({ affiliate_id }) => affiliate_id)).size, 'payee')}
        </li>
      ))}
    </ul>
  )
}

/** Returns the page that shows what a doubt is about. */
const pageOf = ({ code, about }: Pick<ShownDoubt, 'code' | 'about'>, affiliate: string) =>
  code === 'open_case'
    ? { at: ['cases', about] }
    : about && !about.includes(' ')
      ? { at: ['find'], query: { record_id: about } }
      : { at: ['affiliates', affiliate] }

/** Renders what a person should look at, and who of the team said that it is paid nevertheless. */
export const Doubts = ({
  affiliate_id,
  doubts,
}: {
  affiliate_id: string
  doubts: readonly (Omit<ShownDoubt, 'waived_by'> & Partial<ShownDoubt>)[]
}) => (
  <>
    {doubts.map(({ detail, waived_by, ...doubt }) => {
      const [tone, words] = DOUBTS[doubt.code]
      return (
        <div>
          <AccountLink {...pageOf(doubt, affiliate_id)}>
            <Badge tone={tone}>{words}</Badge>
          </AccountLink>{' '}
          {detail && <Data text={detail} />}
          {waived_by && (
            <>
              {' '}
              · waived by <Data text={waived_by} />
            </>
          )}
        </div>
      )
    })}
  </>
)

/** Renders why a row cannot be paid, and what a person should look at. */
export const LookAt = (row: Parameters<typeof Reasons>[0] & Parameters<typeof Doubts>[0]) => (
  <>
    <Reasons {...row} />
    <Doubts {...row} />
  </>
)

/** Renders the periods of the statements that a row or a transfer pays, each with a link. */
export const PaidStatements = ({
  statements,
}: Pick<AnswerOf<typeof getBatch>['transfers'][number], 'statements'>) =>
  statements.map(({ id, period }) => (
    <div>
      <AccountLink at={['statements', id]} children={periodWords(period ?? '')} />
    </div>
  ))
