import type { Child } from 'hono/jsx'
import {
  dayBefore,
  type FieldError,
  useVisit,
  type Values,
  type Visit,
} from '../../pages/base/page.ts'
import { dayWords, Time } from '../../pages/parts/data.tsx'
import { Value } from '../../pages/parts/fields.tsx'
import { Refusal } from '../../pages/parts/forms.tsx'
import type { TypedTerms } from './form/form.ts'
import { type Offers, PlanFormContext } from './plan-fields.tsx'

// The form of the next version, of a plan or of a fraud rule: what is typed of it, and what is wrong.

/** What is typed of a version, and what is wrong with it. */
interface Draft {
  readonly values: Values
  readonly terms: unknown
  readonly isValid: boolean
  /** What is said to be wrong: what nobody has typed is incomplete, not wrong. */
  readonly errors: readonly FieldError[]
}

/** Reads what is typed, or what the form begins with, and checks it as the administration API does. */
export function openDraft(
  visit: Visit,
  form: {
    initial: Values
    read: (values: Values) => TypedTerms
    check: (terms: unknown, values: Values) => readonly FieldError[]
  },
): Draft {
  const refused = visit.refused?.change === 'put' ? visit.refused : null
  const typed = refused?.values ?? visit.typed
  const values = typed ?? form.initial
  const { terms, problems } = form.read(values)
  const isNew = ({ pointer }: FieldError) => !problems.some((one) => one.pointer === pointer)
  const found = [...problems, ...form.check(terms, values).filter(isNew)]
  // The API knows more, such as the rules of other plans.
  const errors = found.length > 0 ? found : (refused?.errors ?? [])
  const isShown = typed !== null && !/^(?:add|remove|choose) /.test(values('do'))
  return { values, terms, isValid: errors.length === 0, errors: isShown ? errors : [] }
}

interface VersionFormProps {
  readonly draft: Draft
  readonly offers: Offers
  /** The latest version; null for something new. */
  readonly latest: { readonly version: number } | null
  /** What the form sends unseen. */
  readonly hidden?: Readonly<Record<string, string>>
  readonly children: Child
  /** The texts of the buttons that show and save. */
  readonly buttons: readonly [show: string, save: string]
  readonly figures: { readonly label: string; readonly title: string; readonly content: Child }
}

/** Renders the form of the next version, and beside it what is computed from records. */
export const VersionForm = (props: VersionFormProps, visit = useVisit()) => {
  const { draft, offers, latest, hidden = {}, children, buttons, figures } = props
  const sent = { csrf: visit.csrf, change: 'put', after: String(latest?.version ?? 0), ...hidden }
  return (
    <div class="plan-editor">
      <form method="post" class="change plan-form" id="change-put">
        {Object.entries(sent).map(([name, value]) => (
          <input type="hidden" name={name} value={value} />
        ))}
        {/* The Enter key presses the first button of its form: it shows what was typed. */}
        <button
          type="submit"
          name="do"
          value="show"
          class="default"
          tabindex={-1}
          formaction="#figures"
        >
          Show again
        </button>
        {!visit.refused && draft.errors.length > 0 && (
          <Refusal detail="Some fields need another value." errors={draft.errors} />
        )}
        <PlanFormContext.Provider value={{ ...draft, offers }}>{children}</PlanFormContext.Provider>
        <div class="plan-buttons">
          <button type="submit" name="do" value="show" class="plain" formaction="#figures">
            {buttons[0]}
          </button>
          <button type="submit" name="do" value="save">
            {buttons[1]}
          </button>
        </div>
        {[...offers.lists].map(([name, values]) => (
          <datalist id={`offer-${name}`}>
            {values.map((value) => (
              <option value={value} />
            ))}
          </datalist>
        ))}
      </form>
      {/* Where the terms are refused, the page begins with why. */}
      <aside
        class="plan-figures"
        id={draft.errors.length > 0 ? undefined : 'figures'}
        aria-label={figures.label}
      >
        <h2>{figures.title}</h2>
        {figures.content}
      </aside>
    </div>
  )
}

/** A version of a list. */
interface ListedVersion {
  readonly version: number
  readonly effective_from: string
  readonly created_at: string
  readonly withdrawn_at?: string | null
  /** Whether another version applies in its place. */
  readonly isReplaced?: boolean
}

interface VersionsProps<V> {
  /** The latest first. */
  readonly versions: readonly V[]
  /** The number of the version in force; null if there is none. */
  readonly inForce: number | null
  /** Renders a version in words, and what differs from the version before. */
  readonly inWords: (version: V, before: V | undefined) => Child
}

/** Renders versions in words, each with its first day and state. */
export const Versions = <V extends ListedVersion>(
  { versions, inForce, inWords }: VersionsProps<V>,
  { today } = useVisit(),
) => (
  <>
    {versions.map((one, i) => {
      const { version, effective_from, created_at, withdrawn_at, isReplaced } = one
      const isFuture = !isReplaced && effective_from > dayBefore(today, 0)
      const others = withdrawn_at ? 'withdrawn' : isFuture ? 'begins later' : 'ended'
      const state = version === inForce && !withdrawn_at ? 'in force' : others
      return (
        <details open={i === 0}>
          <summary>
            Version {version}, from {dayWords(effective_from)} <Value name="status" value={state} />
          </summary>
          <p class="note">
            Created <Time at={created_at} />.
            {withdrawn_at && (
              <>
                {' '}
                Withdrawn <Time at={withdrawn_at} />.
              </>
            )}
            {versions[i + 1] && ' What differs from the version before is marked.'}
          </p>
          {inWords(one, versions[i + 1])}
        </details>
      )
    })}
  </>
)
