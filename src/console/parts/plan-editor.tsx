import type { Child } from 'hono/jsx'
import { getAccount } from '../../admin/accounts.ts'
import { listEventDefinitions } from '../../admin/events.ts'
import { listLinks } from '../../admin/links.ts'
import { type getPlanVersion, putPlan } from '../../admin/plans.ts'
import { isAtLeast } from '../../auth/roles.ts'
import { readableCountry } from '../../commission/engine/country-words.ts'
import { ruleWords, termsWords } from '../../commission/engine/plan-words.ts'
import { validateShape } from '../../commission/plans/issues.ts'
import { planTerms, rule as ruleSchema } from '../../commission/plans/plan.ts'
import { type Vocabulary, vocabularyOf } from '../../commission/plans/vocabulary.ts'
import { listPeriods } from '../../commission/statements/operations.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { getReport } from '../../reports/operations.ts'
import { resourcesOf } from '../../verticals.ts'
import { nullIfConflict } from '../api-errors.ts'
import {
  type Change,
  dayBefore,
  type FieldError,
  type Page,
  type RefusedForm,
  useVisit,
  type Values,
  type Visit,
  withQuery,
} from '../page.ts'
import { checkTerms, putInput, redrawPlan, replaced } from '../plan/draft.ts'
import { type Members, PLAN_MEMBERS, RULE_KINDS, type RuleKind } from '../plan/fields.ts'
import { formOf, rowCount, ruleKind, sameJson, termsOf, valuesOf } from '../plan/form.ts'
import { placeWords, plainError } from '../plan/places.ts'
import { nextFirstDay } from '../plan/templates.ts'
import { dayWords, periodWords, visible } from './data.tsx'
import { DeferredPart } from './deferred.tsx'
import {
  FieldErrors,
  FieldOf,
  FoldedFields,
  MemberFields,
  type Offers,
  type PlanForm,
  RowButton,
  Select,
} from './plan-fields.tsx'
import { computeFigures, endedPeriods, simulationPath } from './plan-figures.tsx'
import { InWords, Sentences, sentencesOf } from './plan-words.tsx'
import type { PeriodSums } from './statement-lists.tsx'
import { EnterButton, SavedMeanwhile } from './version-form.tsx'

// The editor of a plan: its form, each rule in words, and what the terms would have paid.

type Stored = AnswerOf<typeof putPlan>

/** The change that saves a version of a plan: that of the path or, if the path has none, that of the form. */
export const putVersion: Change = {
  done(answer) {
    const { version, effective_from, outcome, warnings } = answer as Stored
    if (outcome === 'unchanged') return `Version ${version} has these terms already.`
    const checks = warnings.map((one) => ` Please check: ${plainError(one).message}`)
    return `Version ${version} is saved. It applies from ${dayWords(effective_from)}${version === 1 ? ', and to earlier days, as it is the first' : ''}.${checks.join('')}`
  },
  perform: (values, visit) => visit.api.call(putPlan, putInput(values, visit)),
  next: (answer, { account }) =>
    `/console/accounts/${encodeURIComponent(account)}/plans/${(answer as Stored).plan}`,
}

/** The part of a page that has the editor: its change, and its buttons that store nothing. */
export const editing: Required<Pick<Page, 'redraw'>> = { redraw: redrawPlan }

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

/** What is typed, and what is wrong with it. */
interface Draft {
  readonly values: Values
  readonly terms: unknown
  readonly errors: readonly FieldError[]
  /** The first day instead of the typed one, which a version has that was saved meanwhile; null if it was kept. */
  readonly movedTo: string | null
  /** Whether somebody asked for figures, and nothing is wrong. */
  readonly isComputed: boolean
}

/** Returns whether an error that was found says what is known of its field, or of a field in it. */
const isSameProblem = (known: FieldError, { pointer, message }: FieldError): boolean =>
  known.pointer === pointer ||
  (known.pointer?.startsWith(`${pointer}/`) === true &&
    /^Write an? (?:amount|percentage)/.test(message))

/** Whether a form was refused because another version was saved meanwhile. */
const isUnseen = ({ code }: RefusedForm): boolean => code === 'newer_version'

/** Returns the next free first day if a version that was saved meanwhile has the typed one; else null. */
function freeDay({ visit: { today }, versions }: EditorProps, typed: Values): string | null {
  const [latest] = versions ?? []
  if (!latest || latest.terms.effective_from !== typed('effective_from').trim()) return null
  return nextFirstDay(latest.terms.period, today, latest.terms.effective_from)
}

/** Returns the values of the form that shows terms, all of them: what it left out would be lost when it is saved. */
function valuesFor(terms: unknown): Values {
  const values = valuesOf(formOf(terms))
  if (sameJson(termsOf(values).terms, { rules: [], ...Object(terms) })) return values
  throw new Error('The form of plans has no field for a part of these terms.')
}

function openDraft(props: EditorProps): Draft {
  const { visit, data, versions, initial } = props
  const refused = visit.refused?.change === 'put' ? visit.refused : null
  const typed = refused ?? visit.typed
  const movedTo = refused && isUnseen(refused) ? freeDay(props, refused.values) : null
  const sent = typed?.values ?? valuesFor(initial)
  const values = movedTo ? replaced(sent, new Map([['effective_from', movedTo]])) : sent
  const { terms, problems } = termsOf(values)
  const isAsked = !refused && (!typed || values('do') === 'show')
  const others = (versions ?? []).map((one) => ({ ...one.terms, version: one.version }))
  const known = refused ? refused.errors.map(plainError) : problems
  // What cannot be read at all is wrong in one way only.
  const found =
    isAsked || refused
      ? checkTerms(terms, data.vocabulary, others).filter(
          (one) => !known.some((other) => isSameProblem(other, one)),
        )
      : []
  const errors = [...known, ...found]
  // What nobody has typed is incomplete, not wrong.
  const isRow = /^(?:add|remove) /.test(values('do'))
  const shown = typed && !isRow ? errors : []
  return {
    values,
    terms,
    movedTo,
    // An error of the plan's id has no pointer.
    errors: shown.map((one) => (one.pointer === '' ? { ...one, pointer: '/plan' } : one)),
    isComputed: isAsked && errors.length === 0,
  }
}

/** The lists that are computed from records: the condition, the group of a report that has its values, and a metric. */
const REPORTED: Readonly<Record<string, readonly [group: string, metric: string]>> = {
  countries: ['country_code', 'signups'],
  instruments: ['instrument', 'lots'],
}

/** The days of the records whose values are offered. */
const OFFERED_DAYS = 90

/** Returns the values that records of the last days have, by the names of conditions. */
async function reportedValues(
  { api, account, today }: Visit,
  { vocabulary }: EditorData,
): Promise<[string, readonly string[]][]> {
  const wanted = Object.entries(REPORTED).filter(([name]) => vocabulary.conditions.has(name))
  const days = { from: dayBefore(today, OFFERED_DAYS), to: dayBefore(today, 0) }
  return Promise.all(
    wanted.map(async ([name, [group_by, metrics]]): Promise<[string, readonly string[]]> => {
      const query = { ...days, group_by, metrics }
      // The values are only proposed: without them, the form works as well.
      const report = await api.call(getReport, { account, ...query }).catch(() => null)
      const values = (report?.data ?? []).map(({ groups }) => groups[group_by])
      const texts = values.flatMap((one) => (typeof one === 'string' ? [one] : []))
      return [name, name === 'countries' ? texts.map(readableCountry) : texts]
    }),
  )
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
  return new Map(
    Object.entries({
      currencies: CURRENCIES,
      events: events.map(({ eventname }) => eventname),
      kpis: ['Value', ...new Set(events.flatMap(({ kpis }) => kpis))],
      onceRules: namesIn(terms, /"id":"([\w-]+)"/g),
      terms: namesIn(terms, /"name":"([\w-]+)"/g),
      links,
    }).filter(([, values]) => values.length > 0),
  )
}

/** Renders the values that the browser proposes for fields. */
export const Lists = ({ lists }: { lists: Iterable<readonly [string, readonly string[]]> }) => (
  <>
    {[...lists].map(([name, values]) => (
      <datalist id={`offer-${name}`}>
        {values.map((value) => (
          <option value={value} />
        ))}
      </datalist>
    ))}
  </>
)

const offersOf = ({ vocabulary }: EditorData, lists: Iterable<string>): Offers => ({
  transactions: vocabulary.transactions,
  activity: vocabulary.activity,
  hasEvents: vocabulary.events !== null,
  conditions: vocabulary.conditions,
  lists: new Set(lists),
})

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

const InSentences = ({ sentences }: { sentences: string[] | null }) => (
  <div class="rule in-words">
    {sentences ? (
      <Sentences now={sentences} before={null} />
    ) : (
      <p class="note">Once the fields are filled in, the rule stands here in words.</p>
    )}
  </div>
)

/** Renders the rate of a rule: the choice between its forms, and the fields of each. */
const Rate = ({ kind, path, form }: { kind: RuleKind; path: string; form: PlanForm }) => {
  const name = `${path}@pays`
  const chosen = form.values(name) || (kind.pays[0]?.[0] ?? '')
  return (
    <div class="one-of" id={`${path}-pays`}>
      <div class="field">
        <label for={name}>Pays</label>
        <Select name={name} options={kind.pays} value={chosen} />
      </div>
      {kind.pays.map(([member]) => {
        const field = kind.members[member]
        return (
          field && (
            <div data-for={member}>
              <FieldOf field={field} name={`${path}/${member}`} form={form} />
            </div>
          )
        )
      })}
    </div>
  )
}

/** Renders a rule: in words, and its fields. */
function RuleFields({
  path,
  row,
  form,
  terms,
}: {
  path: string
  row: number
  form: PlanForm
  terms: unknown
}) {
  const { values, errors } = form
  const kind = ruleKind(values, path)
  const rules: unknown = Object(terms).rules
  const rule: unknown = Array.isArray(rules) ? rules[row] : null
  const own = errors.filter(({ pointer }) => pointer === `/${path}`)
  const members: Members = kind?.members ?? {}
  const rates = new Set(kind?.pays.map(([name]) => name))
  const limits = kind?.limits.flatMap((name) => {
    const field = members[name]
    return field ? [{ field, name: `${path}/${name}` }] : []
  })
  const { id, ...main } = Object.fromEntries(
    Object.entries(members).filter(([name]) => !kind?.limits.includes(name) && !rates.has(name)),
  )
  return (
    <fieldset class="plan-rule" id={path}>
      <legend>
        Rule {row + 1}
        {kind && `: ${kind.label.toLowerCase()}`}
      </legend>
      <input type="hidden" name={`${path}/kind`} value={values(`${path}/kind`)} />
      {own.length > 0 && (
        <p class="note wrong">
          <FieldErrors errors={own} />
        </p>
      )}
      <InSentences sentences={typedSentences(rule, terms)} />
      {kind && (
        <>
          <div class="plan-fields">
            {id && <FieldOf field={id} name={`${path}/id`} form={form} />}
          </div>
          <Rate kind={kind} path={path} form={form} />
          <MemberFields members={main} path={path} form={form} />
          <FoldedFields title="Limits and more" fields={limits ?? []} form={form} />
        </>
      )}
      <RowButton does={`remove ${path}`} at="rules">
        Remove rule {row + 1}
      </RowButton>
    </fieldset>
  )
}

/** Renders a member of the plan that all its versions have. */
const Fixed = ({ name, form }: { name: string; form: PlanForm }) => {
  const field = PLAN_MEMBERS[name]
  const value = form.values(name)
  const options = field?.is === 'choice' ? field.options : []
  const label = options.find(([one]) => one === value)?.[1] ?? value
  return (
    <div class="field">
      <span class="label">{field?.label}</span>
      <output>{label}</output>
      <input type="hidden" name={name} value={value} />
      <FieldErrors errors={form.errors.filter(({ pointer }) => pointer === `/${name}`)} />
    </div>
  )
}

const FIXED = ['currency', 'period', 'terms']

/** Renders the members of the plan beside its rules. */
const PlanFields = ({ form, isNew }: { form: PlanForm; isNew: boolean }) => {
  return (
    <div class="plan-fields">
      {Object.entries(PLAN_MEMBERS).map(([name, field]) => {
        const isFixed = !isNew && FIXED.includes(name) && form.values(`${name}=`) === ''
        return isFixed ? (
          <Fixed name={name} form={form} />
        ) : (
          <FieldOf field={field} name={name} form={form} />
        )
      })}
    </div>
  )
}

const FormView = ({ form, terms, isNew }: { form: PlanForm; terms: unknown; isNew: boolean }) => {
  const count = rowCount(form.values, 'rules')
  const errors = form.errors.filter(({ pointer }) => pointer === '/rules')
  const { output } = validateShape(planTerms, terms)
  return (
    <>
      <PlanFields form={form} isNew={isNew} />
      <section id="rules">
        <h2>Rules</h2>
        <input type="hidden" name="rules#" value={String(count)} />
        {errors.length > 0 && (
          <p class="note wrong">
            <FieldErrors errors={errors} />
          </p>
        )}
        {Array.from({ length: count }, (_, i) => (
          <RuleFields path={`rules/${i}`} row={i} form={form} terms={terms} />
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

/** Renders what is wrong, each with its place, above the form. */
const Problems = ({ draft, detail }: { draft: Draft; detail: string }) => (
  <div class="notice bad" role="alert" tabindex={-1} autofocus>
    <p>{detail}</p>
    <ul>
      {draft.errors.map(({ pointer = '', message, hint }) => (
        <li>
          <a href={`#${anchorOf(pointer)}`}>
            {pointer === '/plan' ? 'Short name' : visible(placeWords(pointer, draft.values))}
          </a>
          : {visible(message)} {hint && visible(hint)}
        </li>
      ))}
    </ul>
  </div>
)

/** Renders why a plan was refused as a whole. */
const WholeRefusal = ({ detail, isTaken }: { detail: string; isTaken: boolean }) => (
  <div class="notice bad" role="alert" tabindex={-1} autofocus>
    <p>
      {isTaken
        ? 'There is a plan with this short name already, so nothing was saved. Choose another short name.'
        : visible(plainError({ message: detail }).message)}
    </p>
  </div>
)

/** Renders why a plan was not saved, the message first. */
const WhyRefused = ({ draft, versions }: EditorProps & { draft: Draft }, visit = useVisit()) => {
  const refused = visit.refused?.change === 'put' ? visit.refused : null
  const seen = Number(draft.values('after') || '0')
  const [latest] = versions ?? []
  const isWhole = refused !== null && refused.errors.length === 0
  const isTaken = refused !== null && isUnseen(refused)
  return (
    <>
      {isTaken && latest ? (
        <SavedMeanwhile version={latest.version} again={withQuery(visit.path, { edit: 'next' })}>
          {draft.movedTo && (
            <p>
              Version {latest.version} begins on {dayWords(latest.effective_from)}, so yours now
              begins on {dayWords(draft.movedTo)}.
            </p>
          )}
          <InWords
            terms={latest.terms}
            before={versions?.find(({ version }) => version <= seen)?.terms}
          />
        </SavedMeanwhile>
      ) : (
        isWhole && <WholeRefusal detail={refused.detail} isTaken={isTaken} />
      )}
      {draft.errors.length > 0 && (
        <Problems
          draft={draft}
          detail={
            refused && !isWhole ? 'The plan was not saved.' : 'Some fields need another value.'
          }
        />
      )}
    </>
  )
}

/** Renders the buttons of the editor. */
const Buttons = ({ isNew }: { isNew: boolean }) => (
  <div class="plan-buttons">
    <button type="submit" name="do" value="show" class="plain" formaction="#figures">
      Show in words and figures
    </button>
    <button type="submit" name="do" value="save">
      {isNew ? 'Save the plan' : 'Save this version'}
    </button>
  </div>
)

/** Returns the period whose figures are shown: the latest that ended and has statements. */
function lastPeriod({ data, visit }: EditorProps, terms: unknown): string | undefined {
  const { period } = Object(terms)
  return endedPeriods(data.periods, period === 'week' ? 'week' : 'month', visit.today)[0]
}

const FigureNote = ({ draft, period }: { draft: Draft; period: string | undefined }) => {
  if (!period) {
    return (
      <p class="note">
        No period has ended with statements yet, so there is nothing to compare with.
      </p>
    )
  }
  return (
    <p class="note">
      {draft.errors.length > 0
        ? 'Once the marked fields are corrected, this shows'
        : '“Show in words and figures” shows'}{' '}
      what these terms would have paid each affiliate in {periodWords(period)}.
    </p>
  )
}

const PlanId = ({ draft, errors }: { draft: Draft; errors: readonly FieldError[] }) => {
  const own = errors.filter(({ pointer }) => pointer === '/plan')
  return (
    <div class={own.length > 0 ? 'field wrong' : 'field'}>
      <label for="plan">Short name</label>
      <input
        id="plan"
        name="plan"
        value={draft.values('plan')}
        aria-describedby="plan-about"
        autocomplete="off"
      />
      <p class="note" id="plan-about">
        <FieldErrors errors={own} />
        For addresses and files. It is made from the name if empty.
      </p>
    </div>
  )
}

/** Returns the editor of a plan, and the part of it that is computed from records. */
export function planEditor(props: EditorProps): {
  body: Child
  computeDeferred: (() => Promise<Child>) | undefined
} {
  const { visit, data, versions } = props
  if (!isAtLeast(visit.member.role, 'manager')) {
    return {
      body: <p class="note">Only the role manager can change plans.</p>,
      computeDeferred: undefined,
    }
  }
  const draft = openDraft(props)
  const isNew = versions === null
  const period = lastPeriod(props, draft.terms)
  const isComputed = draft.isComputed && period !== undefined
  const lists = knownLists(data, draft.terms)
  const reported = isComputed
    ? Object.keys(REPORTED).filter((name) => data.vocabulary.conditions.has(name))
    : []
  const form: PlanForm = {
    values: draft.values,
    errors: draft.errors,
    offers: offersOf(data, [...lists.keys(), ...reported]),
  }
  // No plan can have an id with a space.
  const plan = visit.params.plan ?? 'new plan'
  const body = (
    <div class="plan-editor">
      <form method="post" class="change plan-form" id="change-put">
        <input type="hidden" name="csrf" value={visit.csrf} />
        <input type="hidden" name="change" value="put" />
        <input type="hidden" name="after" value={String(versions?.[0]?.version ?? 0)} />
        <EnterButton />
        <WhyRefused {...props} draft={draft} />
        {isNew && <PlanId draft={draft} errors={form.errors} />}
        <FormView form={form} terms={draft.terms} isNew={isNew} />
        <Buttons isNew={isNew} />
        <Lists lists={lists} />
      </form>
      {/* Where the terms are refused, the page begins with why. */}
      <aside
        class="plan-figures"
        id={draft.errors.length > 0 ? undefined : 'figures'}
        aria-label="What these terms would have paid"
      >
        <h2>{period ? `What ${periodWords(period)} would have paid` : 'Figures'}</h2>
        {isComputed ? <DeferredPart /> : <FigureNote draft={draft} period={period} />}
      </aside>
    </div>
  )
  const compute = async () => {
    const input = {
      plan,
      isStored: !isNew,
      periods: { period: period ?? '' },
      terms: draft.terms,
    }
    const [figures, values] = await Promise.all([
      computeFigures(visit, input, draft.values),
      reportedValues(visit, data),
    ])
    return (
      <>
        {figures}
        {!isNew && (
          <p>
            <a href={simulationPath(visit, plan, draft.terms, period ?? '')}>Other periods</a>
          </p>
        )}
        <Lists lists={values} />
      </>
    )
  }
  return { body, computeDeferred: isComputed ? compute : undefined }
}
