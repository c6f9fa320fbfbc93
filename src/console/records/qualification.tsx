import { getStatement } from '../../commission/statements/operations.ts'
import { listAccountQualifications, listCustomerLines } from '../../commission/why/operations.ts'
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

/** Reads the line that pays what a customer qualified for, and its statement. */
async function readPaid({ api, account }: Visit, report: Qualification) {
  const { customer_id, qualified_on, rule, trigger } = report
  const days = [qualified_on, trigger?.day].flatMap((day) => day ?? [])
  const months = [...new Set(days.map((day) => day.slice(0, 7)))]
  const read = await Promise.all(
    months.map((period) =>
      api.call(listCustomerLines, { account, customer_id, period }).catch(nullIfNotFound),
    ),
  )
  const line = read
    .flatMap((one) => one?.data ?? [])
    .find((one) => one.kind === 'once' && one.rule === rule)
  if (!line) return null
  const { statement_id } = line
  const statement = await api.call(getStatement, { account, statement_id }).catch(nullIfNotFound)
  const amount = statement?.lines.find(({ id }) => id === line.line_id)?.amount
  return statement && amount !== undefined ? { line, statement, amount } : null
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
            <AccountLink at={['lines', paid.line.line_id]}>
              Qualified for {amountText(paid.amount, paid.line.currency)}
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
  const [termsOf, ...paid] = await Promise.all([
    readTerms(visit, data),
    ...data.map((report) => (report.status === 'qualified' ? readPaid(visit, report) : null)),
  ])
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
