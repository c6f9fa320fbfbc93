import type { Child } from 'hono/jsx'
import { getAccount } from '../../admin/accounts.ts'
import { listAffiliates } from '../../admin/affiliates.ts'
import { type getFraudRuleVersion, putFraudRule } from '../../admin/fraud-rules.ts'
import { isAtLeast, type Role } from '../../auth/roles.ts'
import { ApiError } from '../../errors.ts'
import type { Kind, Vertical } from '../../fraud/kind.ts'
import { KINDS } from '../../fraud/kinds.ts'
import type { RuleTerms } from '../../fraud/rules.ts'
import { type FraudRuleWords, fraudRuleWords, kindNamed } from '../../fraud/words.ts'
import type { AnswerOf } from '../../http/operation.ts'
import {
  checkTerms,
  doubtsOf,
  errorsInForm,
  membersOf,
  redrawRule,
  typedRule,
  valuesForTerms,
} from '../fraud/form.ts'
import {
  accountPath,
  type Change,
  dayBefore,
  type FieldError,
  type Page,
  useVisit,
  type Values,
  type Visit,
  withQuery,
} from '../page.ts'
import type { Members } from '../plan/fields.ts'
import { computeBackTest } from './back-test.tsx'
import { dayWords, Sentence, visible } from './data.tsx'
import { DeferredPart } from './deferred.tsx'
import { plainWords } from './plain-words.ts'
import { Lists } from './plan-editor.tsx'
import { FieldErrors, MemberFields, type PlanForm } from './plan-fields.tsx'
import { Sentences } from './plan-words.tsx'
import { EnterButton, SavedMeanwhile } from './version-form.tsx'

// The form of a fraud rule: its fields, the rule in words, and what it would have found.

/** A version of a rule. */
export type FraudVersion = AnswerOf<typeof getFraudRuleVersion>

/** The account, as far as its rules need it. */
export interface RuleAccount {
  readonly vertical: Vertical
}

/** The days that a back-test has unless others are chosen. */
const TESTED_DAYS = 90

/** Returns the days that are tested by default: the last ones that are over. */
export const lastDays = ({ today }: Visit): { from: string; to: string } => ({
  from: dayBefore(today, TESTED_DAYS),
  to: dayBefore(today, 1),
})

/** Returns the sentences of a rule, when it opens a case first. */
export const ruleSentences = ({ opens, limits }: FraudRuleWords): string[] => [opens, ...limits]

/** Renders a rule in words. What differs from a version before is marked. */
export const RuleInWords = ({
  terms,
  before,
}: {
  terms: FraudVersion['terms']
  before?: FraudVersion['terms'] | undefined
}) => (
  <div class="rule">
    <Sentences
      now={ruleSentences(fraudRuleWords(terms))}
      before={before ? ruleSentences(fraudRuleWords(before)) : null}
    />
  </div>
)

/** Returns the role that may change a rule: only an approver changes one of which a version holds payouts. */
export const neededFor = (
  versions: readonly { readonly action: string; readonly withdrawn_at: string | null }[],
): Role =>
  versions.some(({ action, withdrawn_at }) => action === 'hold' && withdrawn_at === null)
    ? 'approver'
    : 'manager'

type StoredRule = AnswerOf<typeof putFraudRule>

/** The labels of parameters, by their names. */
const LABELS: ReadonlyMap<string, string> = new Map(
  KINDS.flatMap(({ labels }) => Object.entries(labels).map(([name, { label }]) => [name, label])),
)

/** Writes a warning of the API with the labels of parameters in place of their names. */
const parameterWords = (message: string): string =>
  plainWords(message).replace(/`([^`]*)`/g, (_, name) => `“${LABELS.get(name) ?? name}”`)

/** The change that saves a version of a rule: that of the path or, if the path has none, that of the form. */
export const putRule: Change = {
  done(answer) {
    const { version, effective_from, outcome, warnings } = answer as StoredRule
    if (outcome === 'unchanged') return `Version ${version} has these terms already.`
    const ends = warnings.find(({ code }) => code === 'later_version_applies')
    const checks = warnings
      .filter((one) => one !== ends)
      .map(({ message }) => ` Please check: ${parameterWords(message)}`)
    const days = ends
      ? parameterWords(ends.message)
      : `It applies from ${dayWords(effective_from)} on.`
    return `Version ${version} is saved. ${days}${checks.join('')}`
  },
  async perform(values, { api, account, params }) {
    const kind = kindNamed(values('kind'))
    if (!kind) throw new ApiError('not_found', { detail: 'There is no such kind of rules.' })
    const { vertical } = await api.call(getAccount, { account })
    const { terms, problems } = typedRule(kind, membersOf(kind, vertical, true), values)
    if (problems.length > 0) {
      const errors = [...problems]
      throw new ApiError('validation_failed', { detail: 'Nothing was saved.', errors })
    }
    const rule = params.rule ?? values('rule')
    return api.call(putFraudRule, { account, rule, after: values('after'), terms })
  },
  next: (answer, { account }) => accountPath(account, 'fraud-rules', (answer as StoredRule).rule),
}

/** The part of a page that has the form: its buttons that store nothing. */
export const ruleEditing: Required<Pick<Page, 'redraw'>> = { redraw: redrawRule }

/** What the form begins with. */
export interface RuleFormProps {
  readonly visit: Visit
  readonly kind: Kind
  readonly account: RuleAccount
  /** The rule; of a new one the id that it gets. */
  readonly rule: string
  /** The latest versions, the latest first; null for a new rule. */
  readonly versions: readonly FraudVersion[] | null
  /** The role that may change the rule. */
  readonly needed: Role
  /** The terms that the form has before anything is typed. */
  readonly initial: Partial<FraudVersion['terms']>
  /** The ids of affiliates that the form proposes. */
  readonly affiliates: readonly string[]
}

/** Reads the affiliates that the form proposes. */
export const readAffiliates = async ({ api, account }: Visit): Promise<readonly string[]> => {
  const list = await api.call(listAffiliates, { account, per_page: 500 })
  return list.data.map(({ affiliate_id }) => affiliate_id)
}

interface RuleDraft {
  readonly values: Values
  readonly terms: unknown
  /** The terms with all defaults; null if they are not valid. */
  readonly checked: RuleTerms | null
  readonly errors: readonly FieldError[]
  /** Whether they are tested on past days. */
  readonly isTested: boolean
}

function openDraft(props: RuleFormProps, members: Members): RuleDraft {
  const { visit, kind, account, versions, initial } = props
  const refused = visit.refused?.change === 'put' ? visit.refused : null
  const typed = refused ?? visit.typed
  const values = typed?.values ?? valuesForTerms(members, initial)
  const { terms, problems } = typedRule(kind, members, values)
  const others = (versions ?? []).filter(({ withdrawn_at }) => withdrawn_at === null)
  const { checked, errors: found } = checkTerms(terms, account.vertical, others)
  // What cannot be understood was not sent to the API.
  const known =
    problems.length > 0 ? problems : errorsInForm(refused?.errors ?? [], members, values)
  const more = errorsInForm(found, members, values).filter(
    (one) => !known.some(({ pointer }) => pointer === one.pointer),
  )
  const all = [...known, ...more]
  // What nobody has typed is incomplete, not wrong.
  const isRow = /^(?:add|remove) /.test(values('do'))
  return {
    values,
    terms,
    checked: all.length > 0 ? null : checked,
    errors: typed && !isRow ? all : [],
    isTested: !refused && all.length === 0,
  }
}

/** Renders what is wrong above the form, each with a link to its field. */
const Problems = ({ errors, members }: { errors: readonly FieldError[]; members: Members }) => (
  <div class="notice bad" role="alert" tabindex={-1} autofocus>
    <p>Nothing was saved. Some fields need another value.</p>
    <ul>
      {errors.map(({ pointer = '', message, hint }) => (
        <li>
          <FieldPlace pointer={pointer} members={members} /> {visible(message)}{' '}
          {hint && visible(hint)}
        </li>
      ))}
    </ul>
  </div>
)

/** Renders a link to the field at which an error points. */
const FieldPlace = ({ pointer, members }: { pointer: string; members: Members }) => {
  const [, first = '', second = ''] = pointer.split('/')
  const field = members[first]
  if (!field) return null
  const inner = field.is === 'group' ? field.members[second] : undefined
  return (
    <>
      <a href={`#${inner ? `${first}/${second}` : first}`}>{(inner ?? field).label}</a>:
    </>
  )
}

/** Renders why a rule was refused as a whole. */
const WhyRefused = (
  { versions, draft, members }: RuleFormProps & { draft: RuleDraft; members: Members },
  visit = useVisit(),
) => {
  const refused = visit.refused?.change === 'put' ? visit.refused : null
  if (draft.errors.length > 0) return <Problems errors={draft.errors} members={members} />
  if (!refused) return null
  const isUnseen = refused.code === 'newer_version'
  const [latest] = versions ?? []
  if (isUnseen && latest) {
    const seen = Number(draft.values('after') || '0')
    return (
      <SavedMeanwhile version={latest.version}>
        <RuleInWords
          terms={latest.terms}
          before={versions?.find(({ version }) => version <= seen)?.terms}
        />
      </SavedMeanwhile>
    )
  }
  return (
    <div class="notice bad" role="alert" tabindex={-1} autofocus>
      <p>
        {isUnseen ? (
          'Another rule of this kind was added while you were typing, so nothing was saved. Save again to add this one beside it.'
        ) : (
          <Sentence text={plainWords(refused.detail)} />
        )}
      </p>
    </div>
  )
}

/** Renders the rule as it is typed, and what is probably a mistake. */
const TypedInWords = ({
  draft,
  versions,
}: {
  draft: RuleDraft
  versions: RuleFormProps['versions']
}) => {
  if (!draft.checked) {
    return (
      <div class="rule in-words">
        <p class="note">Once the fields are filled in, the rule stands here in words.</p>
      </div>
    )
  }
  const before = versions?.find(({ withdrawn_at }) => withdrawn_at === null)
  return (
    <>
      <div class="rule in-words">
        <Sentences
          now={ruleSentences(fraudRuleWords(draft.checked))}
          before={before ? ruleSentences(fraudRuleWords(before.terms)) : null}
        />
      </div>
      {doubtsOf(draft.checked).map((text) => (
        <p class="notice warn">Please check: {visible(text)}</p>
      ))}
    </>
  )
}

const NO_OFFERS = {
  transactions: null,
  activity: null,
  hasEvents: false,
  conditions: new Set<string>(),
}

/** Returns the form of a rule, and the part of it that is computed from records. */
export function ruleForm(props: RuleFormProps): {
  body: Child
  computeDeferred: (() => Promise<Child>) | undefined
} {
  const { visit, kind, account, rule, versions, affiliates, needed } = props
  if (!isAtLeast(visit.member.role, needed)) {
    return {
      body: <p class="note">Only the role {needed} can change this rule.</p>,
      computeDeferred: undefined,
    }
  }
  const members = membersOf(kind, account.vertical, isAtLeast(visit.member.role, 'approver'))
  const draft = openDraft(props, members)
  const form: PlanForm = {
    values: draft.values,
    errors: draft.errors,
    offers: { ...NO_OFFERS, lists: new Set(affiliates.length > 0 ? ['affiliates'] : []) },
  }
  const { parameters, ...others } = members
  const days = lastDays(visit)
  const test = accountPath(visit.account, 'fraud-rules', rule, 'simulate')
  const body = (
    <div class="plan-editor">
      <form method="post" class="change plan-form" id="change-put">
        <input type="hidden" name="csrf" value={visit.csrf} />
        <input type="hidden" name="change" value="put" />
        <input type="hidden" name="kind" value={kind.kind} />
        {versions === null && <input type="hidden" name="rule" value={rule} />}
        <input type="hidden" name="after" value={String(versions?.[0]?.version ?? 0)} />
        <EnterButton />
        <WhyRefused {...props} draft={draft} members={members} />
        <TypedInWords draft={draft} versions={versions} />
        {parameters && <MemberFields members={{ parameters }} path="" form={form} />}
        <div class="plan-fields">
          <MemberFields members={others} path="" form={form} />
        </div>
        <FieldErrors errors={draft.errors.filter(({ pointer }) => pointer === '')} />
        <div class="plan-buttons">
          <button type="submit" name="do" value="show" class="plain" formaction="#figures">
            Show in words and test
          </button>
          <button type="submit" name="do" value="save">
            {versions === null ? 'Add the rule' : 'Save this version'}
          </button>
        </div>
        <Lists lists={affiliates.length > 0 ? [['affiliates', affiliates]] : []} />
      </form>
      <aside
        class="plan-figures"
        id={draft.errors.length > 0 ? undefined : 'figures'}
        aria-label="What this rule would have found"
      >
        <h2>What it would have found</h2>
        {draft.isTested ? (
          <>
            <DeferredPart />
            <p>
              <a href={withQuery(test, { ...days, terms: JSON.stringify(draft.terms) })}>
                All cases and other days
              </a>
            </p>
          </>
        ) : (
          <p class="note">
            “Show in words and test” tests what you typed on the last {String(TESTED_DAYS)} days.
            Nothing is saved.
          </p>
        )}
      </aside>
    </div>
  )
  const compute = () => computeBackTest(visit, { rule, ...days, version: draft.terms }, true)
  return { body, computeDeferred: draft.isTested ? compute : undefined }
}
