import { ruleWords } from '../../commission/plans/plan-words.ts'
import type { PlanTerms } from '../../commission/plans/types.ts'
import type { Causes } from '../../commission/run/cause.ts'
import { parseScope } from '../../commission/run/line-groups.ts'
import type { Explanation } from '../../commission/shapes/steps.ts'
import { causeIds, causeSentence } from '../../commission/why/cause-words.ts'
import { escapeStrings } from '../../commission/why/escape-strings.ts'
import { type Explained, recordsIn, sentencesIn } from '../../commission/why/sentences.ts'
import { counted } from '../../commission/words/english.ts'
import { ENGLISH } from '../../commission/words/words.ts'
import { useVisit } from '../../pages/base/page.ts'
import { Data, isolated, Sentence } from '../../pages/parts/data.tsx'
import { AccountLink, Facts } from '../../pages/parts/fields.tsx'
import { RecordLink } from '../../pages/parts/record-link.tsx'
import { Sentences, sentencesOf } from '../plans/plan-words.tsx'
import { SCOPES, Scope } from './statement-lines.tsx'

// The explanation of a line or an adjustment.

/** Renders what changed after an approval, folded: each with its ids, and the delivery that changed it. */
export const CauseDetails = ({ causes, causes_total }: Causes) => {
  const more = causes_total - causes.length
  return (
    <details>
      <summary>Details</summary>
      <ul>
        {causes.map((cause) => (
          <li>
            <Data text={[causeSentence(cause, ENGLISH), ...causeIds(cause)].join(', ')} />
            {'delivery_id' in cause && (
              <>
                , by <AccountLink at={['deliveries', cause.delivery_id]}>this delivery</AccountLink>
              </>
            )}
          </li>
        ))}
        {more > 0 && <li>{counted(more, 'other change')}</li>}
      </ul>
    </details>
  )
}

/** What a page shows of the statement that has a line or an adjustment. */
interface Statement {
  readonly affiliate_id: string
  readonly plan: string
  readonly period: string
  readonly currency: string
}

/** Renders what an explanation is about: a line, or an adjustment. */
export const Head = (props: {
  statement: Statement
  line: Pick<Explanation['line'], 'rule' | 'version' | 'scope'> | null
}) => (
  <Facts
    row={props.statement}
    names={['affiliate_id', 'plan', 'period']}
    more={
      props.line
        ? [
            ['Rule', `${isolated(props.line.rule)}, version ${props.line.version}`],
            [SCOPES[parseScope(props.line.scope).of], <Scope scope={props.line.scope} />],
          ]
        : []
    }
  />
)

/** Renders the rule of a line in words. */
export function RuleInWords({
  explained,
  terms,
}: {
  explained: Explained
  terms: PlanTerms | null
}) {
  const line = 'of' in explained ? explained.now?.line : explained.line
  const rule = terms?.rules.find(({ id }) => id === line?.rule)
  if (!terms || !rule) return null
  return (
    <section class="rule">
      <h2>
        The rule “{isolated(rule.id)}” of <Data text={terms.name} />
      </h2>
      <Sentences now={sentencesOf(ruleWords(rule, terms))} before={null} />
    </section>
  )
}

/** Renders an explanation in sentences, the records that it names, and of an adjustment what changed. */
export function ExplanationView({ explained }: { explained: Explained }, visit = useVisit()) {
  const line = 'of' in explained ? explained.now?.line : explained.line
  const records = recordsIn(explained)
  const customer_id = parseScope(line?.scope ?? '').id
  return (
    <>
      <ol class="sentences">
        {sentencesIn(escapeStrings(explained), ENGLISH).map((sentence) => (
          <li>
            <Sentence text={sentence} />
          </li>
        ))}
      </ol>
      {'of' in explained && <CauseDetails {...explained} />}
      {records.length > 0 && (
        <>
          <h2>Records that decided</h2>
          <ul>
            {records.map((record) => (
              <li>
                <RecordLink account={visit.account} record={{ ...record, customer_id }} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}
