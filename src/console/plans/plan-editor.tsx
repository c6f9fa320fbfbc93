import { getAccount } from '../../accounts/accounts.ts'
import { listEventDefinitions } from '../../accounts/events.ts'
import { type getPlan, putPlan } from '../../commission/operations/plans.ts'
import { listPeriods } from '../../commission/operations/statements.ts'
import { conditions as allConditions } from '../../commission/plans/conditions.ts'
import { validateShape } from '../../commission/plans/issues.ts'
import { planTerms } from '../../commission/plans/plan.ts'
import { type Vocabulary, vocabularyOf } from '../../commission/plans/vocabulary.ts'
import { resourcesOf } from '../../ingest/verticals.ts'
import { nullIfConflict } from '../../pages/api-errors.ts'
import {
  accountPath,
  type Change,
  useVisit,
  type Values,
  type Visit,
} from '../../pages/base/page.ts'
import { calling } from '../../pages/calling.ts'
import { dayWords, periodWords } from '../../pages/parts/data.tsx'
import { Deferred } from '../../pages/parts/deferred.tsx'
import { InputField, NeedsRole } from '../../pages/parts/forms.tsx'
import { plainWords } from '../../pages/parts/plain-words.ts'
import { isAtLeast } from '../../platform/auth/roles.ts'
import { ApiError } from '../../platform/errors.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { canonicalJson } from '../../platform/validation/canonical-json.ts'
import {
  ASSIGNEES,
  type Assigned,
  assignedText,
  assignPlan,
} from '../affiliates/affiliate-forms.tsx'
import { checkTerms, putInput } from './form/draft.ts'
import { planMembers } from './form/fields.ts'
import { formOf, termsOf, valuesOf } from './form/form.ts'
import { Fields } from './plan-fields.tsx'
import { computeFigures, endedPeriods } from './plan-figures.tsx'
import { InWords } from './plan-words.tsx'
import { openDraft, VersionForm } from './version-form.tsx'

// The editor of a plan: its form, each rule in words, and what the terms would have paid.

type Stored = AnswerOf<typeof putPlan>

/** Says which version is stored, and what to check of it. */
function storedText(answer: unknown): string {
  const { version, effective_from, outcome, warnings } = answer as Stored
  if (outcome === 'unchanged') return `Version ${version} has these terms already.`
  const checks = warnings.map((one) => ` Please check: ${plainWords(one.message)}`)
  return `Version ${version} is saved. It applies from ${dayWords(effective_from)}${version === 1 ? ', and to earlier days, as it is the first' : ''}.${checks.join('')}`
}

const put = calling(putPlan, storedText, putInput)

/** What was saved, and to whom it was assigned. */
type Saved = readonly [stored: Stored, assigned: Assigned | null]

/**
 * The change that saves a version of a plan: that of the path or, if the path has none, that of the form. Then it
 * assigns the plan to the affiliates that the form names.
 */
export const putVersion: Change = {
  done(answer) {
    const [stored, assigned] = answer as Saved
    return [storedText(stored), assigned && assignedText(assigned)].filter(Boolean).join(' ')
  },
  async perform(values, visit): Promise<Saved> {
    const stored = (await put.perform(values, visit)) as Stored
    if (!values(ASSIGNEES.name)) return [stored, null]
    const form: Values = (name) => (name === 'plan' ? stored.plan : values(name))
    const assigned = assignPlan(form, visit).catch((thrown) => {
      if (!(thrown instanceof ApiError)) throw thrown
      const { code, details } = thrown
      const detail = `${storedText(stored)} It is assigned to nobody: ${details.detail ?? ''}`
      throw new ApiError(code, { ...details, detail })
    })
    return [stored, await assigned]
  },
  next: (answer, { account }) => accountPath(account, 'plans', (answer as Saved)[0].plan),
}

/** Reads what the editor needs to know of the account. */
export async function readEditorData({ api, account }: Visit) {
  const [{ vertical }, events, periods] = await Promise.all([
    api.call(getAccount, { account }),
    api.call(listEventDefinitions, { account }).catch(nullIfConflict),
    api.call(listPeriods, { account }),
  ])
  return {
    vertical,
    vocabulary: vocabularyOf(resourcesOf(vertical), events?.data ?? []),
    periods,
  }
}

/** A version that is stored. */
export type Version = AnswerOf<typeof getPlan>['versions'][number]

/** What an editor begins with. */
interface EditorProps {
  readonly data: Awaited<ReturnType<typeof readEditorData>>
  /** The latest versions of the plan, the latest first; null for a new plan. */
  readonly versions: readonly Version[] | null
  /** The terms that the form has before anything is typed. */
  readonly initial: unknown
  /** The name of the template that they are from. */
  readonly template?: string | undefined
}

/** Returns the values that fields propose. */
const listsOf = ({ transactions, events }: Vocabulary) =>
  new Map([
    ...(transactions ? [['transactions', transactions] as const] : []),
    ...(events
      ? [
          ['event', events.map(({ eventname }) => eventname)] as const,
          ['kpi', ['Value', ...new Set(events.flatMap(({ kpis }) => kpis))]] as const,
        ]
      : []),
  ])

/** Returns the forms and conditions of which an account can have no record. */
function withoutOf({ transactions, activity, events, conditions }: Vocabulary): Set<string> {
  const all = Object.keys(allConditions.entries).map((name) => name.replace(/^not_/, ''))
  return new Set([
    ...(transactions ? [] : ['transactions']),
    ...(activity ? [] : ['activity']),
    ...(events ? [] : ['event']),
    ...all.filter((name) => !conditions.has(name)),
  ])
}

/** Renders the editor of a plan, and what the terms would have paid in the latest period with statements that ended. */
export function PlanEditor(props: EditorProps, visit = useVisit()) {
  const { data, versions, initial } = props
  // What somebody has typed since is no template's.
  const template = visit.typed || visit.refused ? undefined : props.template
  const { vocabulary } = data
  const others = (versions ?? []).map((one) => ({ ...one.terms, version: one.version }))
  if (!isAtLeast(visit.member.role, 'manager')) {
    return <NeedsRole needs="manager" what="write a version of the plan" />
  }
  const begin = valuesOf(formOf(initial))
  // What the form left out would be lost when it is saved.
  if (versions && canonicalJson(termsOf(begin).terms) !== canonicalJson(initial)) {
    throw new ApiError('conflict', {
      detail: 'The form has no field for a part of these terms. Write the next version by the API.',
    })
  }
  const draft = openDraft(visit, {
    initial: begin,
    read: termsOf,
    check: (terms) => checkTerms(terms, vocabulary, others),
  })
  const isNew = versions === null
  const kind = Object(draft.terms).period === 'week' ? 'week' : 'month'
  const [period] = endedPeriods(data.periods, kind, visit.today)
  const { plan } = visit.params
  const { output } = validateShape(planTerms, draft.terms)
  return (
    <VersionForm
      draft={draft}
      offers={{ lists: listsOf(vocabulary), without: withoutOf(vocabulary) }}
      latest={versions?.[0] ?? null}
      hidden={{ customers: 'all' }}
      buttons={['Show in words and figures', isNew ? 'Save the plan' : 'Save this version']}
      figures={{
        label: 'What these terms would have paid',
        title: period ? `What ${periodWords(period)} would have paid` : 'Figures',
        content:
          draft.isValid && period && plan !== undefined ? (
            <Deferred part={() => computeFigures(visit, { plan, period, terms: draft.terms })} />
          ) : (
            <p class="note">
              {plan === undefined
                ? 'Of a plan that is saved, the next version shows here what it would have paid.'
                : period
                  ? 'Once all fields are filled in, “Show in words and figures” shows what these terms would have paid each affiliate.'
                  : 'No period has ended with statements yet, so there is nothing to compare with.'}
            </p>
          ),
      }}
    >
      {draft.isValid && output && (
        <section class="in-words" aria-labelledby="in-words">
          <h2 id="in-words">{template ? `What the template “${template}” brought` : 'In words'}</h2>
          <InWords terms={output} before={versions?.[0]?.terms} isOutline />
        </section>
      )}
      {isNew && (
        <>
          <InputField
            {...ASSIGNEES}
            id="assignees"
            label="Assign it to"
            value={draft.values(ASSIGNEES.name)}
            hint={`${ASSIGNEES.hint} If empty, to nobody yet.`}
          />
          <InputField
            id="plan"
            name="plan"
            label="Short name"
            value={draft.values('plan')}
            hint="For addresses and files. It is made from the name if empty."
            errors={draft.errors.filter(({ pointer }) => pointer === '' || pointer === '/plan')}
          />
        </>
      )}
      <div class="plan-fields">
        <Fields members={planMembers()} path="" />
      </div>
    </VersionForm>
  )
}
