import { dayNumber, periodOf } from '../../commission/engine/calendar.ts'
import { lineId, statementId } from '../../commission/statements/ids.ts'
import { getStatement } from '../../commission/statements/operations.ts'
import { listAccountQualifications } from '../../commission/why/operations.ts'
import { stateWords } from '../../commission/why/sentences.ts'
import { ENGLISH } from '../../commission/words/words.ts'
import { nullIfNotFound } from '../../pages/api-errors.ts'
import { dayBefore, type Visit } from '../../pages/page.ts'
import { amountText, Data, Day, isolated } from '../../pages/parts/data.tsx'
import { AccountLink } from '../../pages/parts/fields.tsx'
import { StatusBadge } from '../../pages/parts/statement-lists.tsx'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { planName, readTerms, type TermsOf } from './reasons.tsx'

type Qualification = AnswerOf<typeof listAccountQualifications>['data'][number]

/** Says why a customer has not qualified under a rule. */
function missingText(report: Qualification, termsOf: TermsOf): string {
  const terms = termsOf(report)
  const rule = terms?.rules.find(({ id }) => id === report.rule)
  const trigger = rule?.kind === 'once' ? rule.trigger : undefined
  const sentences = terms ? stateWords(report, { ...terms, trigger }, ENGLISH) : []
  return sentences.join(' ') || 'The customer has not qualified.'
}

/** Reads the line that pays what a customer qualified for, and its statement; null unless a run has stored it. */
async function readPaid({ api, account }: Visit, report: Qualification, termsOf: TermsOf) {
  const { affiliate_id, customer_id, plan, version, rule, qualified_on } = report
  const kind = termsOf(report)?.period
  if (affiliate_id === null || qualified_on === null || !kind) return null
  const period = periodOf(dayNumber(qualified_on), kind)
  const statement_id = await statementId(affiliate_id, plan, period.id)
  const id = await lineId(statement_id, { version, rule, scope: `customer:${customer_id}` }, 0)
  const statement = await api.call(getStatement, { account, statement_id }).catch(nullIfNotFound)
  const line = statement?.lines.find((one) => one.id === id)
  return statement && line ? { line, statement } : null
}

/** Renders what a customer qualified for, or what is missing to it. */
const State = (props: {
  report: Qualification
  paid: Awaited<ReturnType<typeof readPaid>>
  termsOf: TermsOf
}) => {
  const { report, paid, termsOf } = props
  return (
    <li>
      {report.status !== 'qualified' ? (
        <Data text={missingText(report, termsOf)} />
      ) : (
        <>
          <Day day={report.qualified_on} />:{' '}
          {paid ? (
            <AccountLink at={['lines', paid.line.id]}>
              Qualified for {amountText(paid.line.amount, paid.statement.currency)}
            </AccountLink>
          ) : (
            'Qualified'
          )}
        </>
      )}{' '}
      <span class="quiet">
        Rule “{isolated(report.rule)}” of <Data text={planName(termsOf(report), report.plan)} />
      </span>{' '}
      {paid && <StatusBadge {...paid.statement} />}
    </li>
  )
}

/** Reads and renders what a customer qualified for under each rule, and what is missing; null if no rule asks for it. */
export async function renderQualifications(visit: Visit, customer_id: string) {
  const { api, account, today } = visit
  const period = dayBefore(today, 0).slice(0, 7)
  const { data } = await api.call(listAccountQualifications, { account, period, customer_id })
  if (data.length === 0) return null
  const termsOf = await readTerms(visit, data)
  const paid = await Promise.all(
    data.map((one) => (one.status === 'qualified' ? readPaid(visit, one, termsOf) : null)),
  )
  return (
    <>
      <h2>Qualification</h2>
      <ul class="qualifications">
        {data.map((report, i) => (
          <State report={report} paid={paid[i] ?? null} termsOf={termsOf} />
        ))}
      </ul>
    </>
  )
}
