import type { Child } from 'hono/jsx'
import { getAccount } from '../../accounts/accounts.ts'
import { listEventDefinitions } from '../../accounts/events.ts'
import { listLinks } from '../../attribution/operations/links.ts'
import { ruleWords, termsWords } from '../../commission/engine/plan-words.ts'
import { type getPlanVersion, putPlan } from '../../commission/operations/plans.ts'
import { validateShape } from '../../commission/plans/issues.ts'
import { planTerms, rule as ruleSchema } from '../../commission/plans/plan.ts'
import { type Vocabulary, vocabularyOf } from '../../commission/plans/vocabulary.ts'
import { listPeriods } from '../../commission/statements/operations.ts'
import { resourcesOf } from '../../ingest/verticals.ts'
import { nullIfConflict } from '../../pages/api-errors.ts'
import { calling } from '../../pages/calling.ts'
import { accountPath, type Change, type Page, type Values, type Visit } from '../../pages/page.ts'
import { dayWords, periodWords, visible } from '../../pages/parts/data.tsx'
import { DeferredPart } from '../../pages/parts/deferred.tsx'
import { InputField } from '../../pages/parts/forms.tsx'
import type { PeriodSums } from '../../pages/parts/statement-lists.tsx'
import { isAtLeast } from '../../platform/auth/roles.ts'
import type { AnswerOf } from '../../platform/http/operation.ts'
import { checkTerms, putInput, redrawVersion } from './form/draft.ts'
import { PLAN_MEMBERS, RULE_KINDS, type RuleKind } from './form/fields.ts'
import { formOf, rowCount, ruleKind, sameJson, termsOf, valuesOf } from './form/form.ts'
import { placeWords, plainError } from './form/places.ts'
import { errorsAt, FieldOf, Fields, ListErrors, RowButton, useForm } from './plan-fields.tsx'
import { computeFigures, endedPeriods, simulationPath } from './plan-figures.tsx'
import { Sentences, sentencesOf } from './plan-words.tsx'
import { openDraft, VersionForm } from './version-form.tsx'

// The editor of a plan: its form, each rule in words, and what the terms would have paid.

type Stored = AnswerOf<typeof putPlan>

/** The change that saves a version of a plan: that of the path or, if the path has none, that of the form. */
export const putVersion: Change = {
  ...calling(
    putPlan,
    (answer) => {
      const { version, effective_from, outcome, warnings } = answer as Stored
      if (outcome === 'unchanged') return `Version ${version} has these terms already.`
      const checks = warnings.map((one) => ` Please check: ${plainError(one).message}`)
      return `Version ${version} is saved. It applies from ${dayWords(effective_from)}${version === 1 ? ', and to earlier days, as it is the first' : ''}.${checks.join('')}`
    },
    putInput,
  ),
  next: (answer, { account }) => accountPath(account, 'plans', (answer as Stored).plan),
}

/** The part of a page that has the editor: its change, and its buttons that store nothing. */
export const editing: Required<Pick<Page, 'redraw'>> = { redraw: redrawVersion }

/** The values that the form of a plan offers, as the administration API has them. */
export interface EditorData {
  readonly vertical: string
  readonly vocabulary: Vocabulary
  readonly periods: PeriodSums
  readonly links: readonly string[]
}

/** Reads what the editor offers. */
export async function readEditorData({ api, account }: Visit): Promise<EditorData> {
  const [{ vertical }, events, periods, links] = await Promise.all([
    api.call(getAccount, { account }),
    api.call(listEventDefinitions, { account }).catch(nullIfConflict),
    api.call(listPeriods, { account }),
    api.call(listLinks, { account, per_page: 50 }),
  ])
  return {
    vertical,
    vocabulary: vocabularyOf(resourcesOf(vertical), events?.data ?? []),
    periods,
    links: links.data.map(({ link_id }) => link_id),
  }
}

/** A version that is stored. */
export type Version = AnswerOf<typeof getPlanVersion>

/** What an editor begins with. */
export interface EditorProps {
  readonly visit: Visit
  readonly data: EditorData
  /** The latest versions of the plan, the latest first; null for a new plan. */
  readonly versions: readonly Version[] | null
  /** The terms that the form has before anything is typed. */
  readonly initial: unknown
}

/** Returns the values of the form that shows terms, all of them: what it left out would be lost when it is saved. */
function valuesFor(terms: unknown): Values {
  const values = valuesOf(formOf(terms))
  if (sameJson(termsOf(values).terms, { rules: [], ...Object(terms) })) return values
  throw new Error('The form of plans has no field for a part of these terms.')
}

/** The currencies that are proposed. */
const CURRENCIES = ['EUR', 'USD', 'GBP', 'CHF', 'JPY', 'AUD', 'CAD', 'NOK', 'PLN', 'SEK']

/** Returns the names that people gave to rules or terms in the form. */
const namesIn = (terms: unknown, pattern: RegExp): string[] => [
  ...new Set(
    [...JSON.stringify(terms ?? null).matchAll(pattern)].flatMap(([, name]) => name ?? []),
  ),
]

/** Returns the values that are proposed at once, by the names of offers and conditions. */
function knownLists(
  { vocabulary, links }: EditorData,
  terms: unknown,
): Map<string, readonly string[]> {
  const events = vocabulary.events ?? []
  const rules = namesIn(terms, /"id":"([\w-]+)"/g)
  return new Map(
    Object.entries({
      currency: CURRENCIES,
      currencies: CURRENCIES,
      event: events.map(({ eventname }) => eventname),
      kpi: ['Value', ...new Set(events.flatMap(({ kpis }) => kpis))],
      once: rules,
      recoups: rules,
      of: namesIn(terms, /"name":"([\w-]+)"/g),
      links,
    }).filter(([, values]) => values.length > 0),
  )
}

/** Returns the sentences of a rule that is typed; null if it is not complete. */
function typedSentences(rule: unknown, terms: unknown): string[] | null {
  const { output } = validateShape(ruleSchema, rule)
  if (!output) return null
  const hasRate = ['amount', 'percent', 'tiers'].some((name) => Object.hasOwn(output, name))
  const { currency, period } = Object(terms)
  const frame = {
    currency: /^[A-Z]{3}$/.test(currency) ? currency : 'EUR',
    period: period === 'week' ? 'week' : 'month',
  } as const
  return hasRate ? sentencesOf(ruleWords(output, frame)) : null
}

/** Renders the rate of a rule: the choice between its forms, and the fields of each. */
const Rate = ({ kind, path }: { kind: RuleKind; path: string }, form = useForm()) => {
  const name = `${path}@pays`
  return (
    <div class="one-of" id={`${path}-pays`}>
      <InputField
        id={name}
        name={name}
        label="Pays"
        options={kind.pays}
        value={form.values(name) || kind.pays[0]?.[0]}
      />
      {kind.pays.map(([member]) => {
        const field = kind.members[member]
        return (
          field && (
            <div data-for={member}>
              <FieldOf field={field} name={`${path}/${member}`} />
            </div>
          )
        )
      })}
    </div>
  )
}

/** Renders a rule: in words, and its fields. */
function RuleFields(
  { path, rule, terms }: { path: string; rule: unknown; terms: unknown },
  { values } = useForm(),
) {
  const kind = ruleKind(values, path)
  const rates = kind?.pays.map(([name]) => name) ?? []
  const { id, ...others } = kind?.members ?? {}
  const own = Object.entries(others).filter(([name]) => !rates.includes(name))
  const sentences = typedSentences(rule, terms)
  const title = `Rule ${Number(path.slice('rules/'.length)) + 1}`
  return (
    <fieldset class="plan-rule" id={path}>
      <legend>
        {title}
        {kind && `: ${kind.label.toLowerCase()}`}
      </legend>
      <input type="hidden" name={`${path}/kind`} value={values(`${path}/kind`)} />
      <ListErrors name={path} />
      <div class="rule in-words">
        {sentences ? (
          <Sentences now={sentences} before={null} />
        ) : (
          <p class="note">Once the fields are filled in, the rule stands here in words.</p>
        )}
      </div>
      {kind && (
        <>
          <div class="plan-fields">{id && <FieldOf field={id} name={`${path}/id`} />}</div>
          <Rate kind={kind} path={path} />
          <Fields members={Object.fromEntries(own)} path={path} title="Limits and more" />
        </>
      )}
      <RowButton does={`remove ${path}`} at="rules">
        Remove {title.toLowerCase()}
      </RowButton>
    </fieldset>
  )
}

/** Renders the fields of a plan: its own, and its rules. */
const PlanFields = ({ terms, isNew }: { terms: unknown; isNew: boolean }, form = useForm()) => {
  const count = rowCount(form.values, 'rules')
  const { output } = validateShape(planTerms, terms)
  const rules: unknown = Object(terms).rules
  return (
    <>
      {isNew && (
        <InputField
          id="plan"
          name="plan"
          label="Short name"
          value={form.values('plan')}
          hint="For addresses and files. It is made from the name if empty."
          errors={errorsAt(form, '/plan')}
        />
      )}
      <div class="plan-fields">
        <Fields members={PLAN_MEMBERS} path="" />
      </div>
      <section id="rules">
        <h2>Rules</h2>
        <input type="hidden" name="rules#" value={String(count)} />
        <ListErrors name="rules" />
        {Array.from({ length: count }, (_, i) => (
          <RuleFields
            path={`rules/${i}`}
            rule={Array.isArray(rules) ? rules[i] : null}
            terms={terms}
          />
        ))}
        <div class="add-rule">
          <span>Add a rule that pays</span>
          {Object.entries(RULE_KINDS).map(([kind, { add }]) => (
            <RowButton does={`add rules ${kind}`} at={`rules/${count}`}>
              {add}
            </RowButton>
          ))}
        </div>
      </section>
      {output && (
        <section class="rule">
          <h3>Statements</h3>
          <Sentences now={termsWords(output)} before={null} />
        </section>
      )}
    </>
  )
}

/** Returns the id of the rule or of the field of the plan at which an error points. */
const anchorOf = (pointer: string): string =>
  /^\/(rules\/\d+|\w+)/.exec(pointer)?.[1] ?? 'change-put'

/** Returns the period whose figures are shown: the latest that ended and has statements. */
function lastPeriod({ data, visit }: EditorProps, terms: unknown): string | undefined {
  const { period } = Object(terms)
  return endedPeriods(data.periods, period === 'week' ? 'week' : 'month', visit.today)[0]
}

/** Returns the editor of a plan, and the part of it that is computed from records. */
export function planEditor(props: EditorProps): {
  body: Child
  computeDeferred: (() => Promise<Child>) | undefined
} {
  const { visit, data, versions, initial } = props
  const others = (versions ?? []).map((one) => ({ ...one.terms, version: one.version }))
  if (!isAtLeast(visit.member.role, 'manager')) {
    return {
      body: <p class="note">Only the role manager can change plans.</p>,
      computeDeferred: undefined,
    }
  }
  const draft = openDraft(visit, {
    initial: () => valuesFor(initial),
    read: termsOf,
    check: (terms) => checkTerms(terms, data.vocabulary, others),
    inForm: (error) => {
      const { pointer, ...plain } = plainError(error)
      // An error of the plan's id has no pointer.
      return { ...plain, pointer: pointer || '/plan' }
    },
  })
  const isNew = versions === null
  const period = lastPeriod(props, draft.terms)
  const isComputed = draft.isComputed && period !== undefined
  const lists = knownLists(data, draft.terms)
  const { vocabulary } = data
  const { transactions, activity, events, conditions } = vocabulary
  const offers = {
    ...{ transactions, activity, conditions, hasEvents: events !== null },
    lists: new Set(lists.keys()),
  }
  // No plan can have an id with a space.
  const plan = visit.params.plan ?? 'new plan'
  const shows =
    draft.errors.length > 0
      ? 'Once the marked fields are corrected, this shows'
      : '“Show in words and figures” shows'
  const latest = versions?.[0] ?? null
  const body = (
    <VersionForm
      draft={draft}
      offers={offers}
      latest={latest}
      place={(pointer) => [
        anchorOf(pointer),
        pointer === '/plan' ? 'Short name' : visible(placeWords(pointer, draft.values)),
      ]}
      buttons={['Show in words and figures', isNew ? 'Save the plan' : 'Save this version']}
      lists={lists}
      figures={{
        label: 'What these terms would have paid',
        title: period ? `What ${periodWords(period)} would have paid` : 'Figures',
        content: isComputed ? (
          <DeferredPart />
        ) : (
          <p class="note">
            {period
              ? `${shows} what these terms would have paid each affiliate in ${periodWords(period)}.`
              : 'No period has ended with statements yet, so there is nothing to compare with.'}
          </p>
        ),
      }}
    >
      <PlanFields terms={draft.terms} isNew={isNew} />
    </VersionForm>
  )
  const compute = async () => {
    const input = { plan, isStored: !isNew, period: period ?? '', terms: draft.terms }
    return (
      <>
        {await computeFigures(visit, input)}
        {!isNew && (
          <p>
            <a href={simulationPath(visit, plan, draft.terms, period ?? '')}>Other periods</a>
          </p>
        )}
      </>
    )
  }
  return { body, computeDeferred: isComputed ? compute : undefined }
}
