import { listAccountQualifications } from '../../commission/why/operations.ts'
import { stateWords } from '../../commission/why/sentences.ts'
import { ENGLISH } from '../../commission/words/words.ts'
import { dayBefore, type Visit } from '../../pages/base/page.ts'
import { Data, Day, isolated } from '../../pages/parts/data.tsx'
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

/** Renders what a customer qualified for, or what is missing to it. */
const State = ({ report, termsOf }: { report: Qualification; termsOf: TermsOf }) => (
  <li>
    {report.status === 'qualified' ? (
      <>
        <Day day={report.qualified_on} />: Qualified
      </>
    ) : (
      <Data text={missingText(report, termsOf)} />
    )}{' '}
    <span class="quiet">
      Rule “{isolated(report.rule)}” of <Data text={planName(termsOf(report), report.plan)} />
    </span>
  </li>
)

/** Reads and renders what a customer qualified for under each rule, and what is missing; null if no rule asks for it. */
export async function renderQualifications(visit: Visit, customer_id: string) {
  const { api, account, today } = visit
  const period = dayBefore(today, 0).slice(0, 7)
  const { data } = await api.call(listAccountQualifications, { account, period, customer_id })
  if (data.length === 0) return null
  const termsOf = await readTerms(visit, data)
  return (
    <>
      <h2>Qualification</h2>
      <ul class="qualifications">
        {data.map((report) => (
          <State report={report} termsOf={termsOf} />
        ))}
      </ul>
    </>
  )
}
