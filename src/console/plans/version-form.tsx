import type { Child } from 'hono/jsx'
import { dayBefore, type FieldError, useVisit, type Values, type Visit } from '../../pages/page.ts'
import { dayWords, Sentence, Time } from '../../pages/parts/data.tsx'
import { Value } from '../../pages/parts/fields.tsx'
import { FormSentence } from '../../pages/parts/forms.tsx'
import type { TypedTerms } from './form/form.ts'
import { type Offers, PlanFormContext } from './plan-fields.tsx'

// The form of the next version, of a plan or of a fraud rule: what is typed of it, and what is wrong.

/** What is typed of a version, and what is wrong with it. */
export interface Draft {
  readonly values: Values
  readonly terms: unknown
  readonly errors: readonly FieldError[]
  /** Whether somebody asked for figures, and nothing is wrong. */
  readonly isComputed: boolean
}

/** Returns whether an error that was found says what is known of its field, or of a field in it. */
const isSameProblem = (known: FieldError, { pointer, message }: FieldError): boolean =>
  known.pointer === pointer ||
  (known.pointer?.startsWith(`${pointer}/`) === true &&
    /^Write an? (?:amount|percentage)/.test(message))

const refusedVersion = ({ refused }: Visit) => (refused?.change === 'put' ? refused : null)

/** Reads what is typed, or what the form begins with, and checks it as the administration API does. */
export function openDraft(
  visit: Visit,
  form: {
    initial: () => Values
    read: (values: Values) => TypedTerms
    check: (terms: unknown) => readonly FieldError[]
    /** Returns an error of the API at the fields of the form, in its words. */
    inForm: (error: FieldError, values: Values) => FieldError
  },
): Draft {
  const refused = refusedVersion(visit)
  const typed = refused ?? visit.typed
  const values = typed?.values ?? form.initial()
  const { terms, problems } = form.read(values)
  const isAsked = !refused && (!typed || values('do') === 'show')
  const inForm = (errors: readonly FieldError[]) => errors.map((one) => form.inForm(one, values))
  const known = refused ? inForm(refused.errors) : problems
  // What cannot be read at all is wrong in one way only.
  const found = (isAsked || refused ? inForm(form.check(terms)) : []).filter(
    (one) => !known.some((other) => isSameProblem(other, one)),
  )
  const errors = [...known, ...found]
  // What nobody has typed is incomplete, not wrong.
  const isRow = /^(?:add|remove) /.test(values('do'))
  return {
    ...{ values, terms, errors: typed && !isRow ? errors : [] },
    isComputed: isAsked && errors.length === 0,
  }
}

interface VersionFormProps {
  readonly draft: Draft
  readonly offers: Offers
  /** The latest version; null for something new. */
  readonly latest: { readonly version: number } | null
  /** What the form sends unseen. */
  readonly hidden?: Readonly<Record<string, string>>
  /** Returns the id of the field at which an error points, and what it is called. */
  readonly place: (pointer: string) => readonly [anchor: string, label: string]
  readonly children: Child
  /** The texts of the buttons that show and save. */
  readonly buttons: readonly [show: string, save: string]
  /** The values that the browser proposes for fields, by the names of their lists. */
  readonly lists: Iterable<readonly [string, readonly string[]]>
  readonly figures: { readonly label: string; readonly title: string; readonly content: Child }
}

/** Renders why a version was not saved. */
const WhyRefused = (props: VersionFormProps, visit = useVisit()) => {
  const { draft, latest, place } = props
  const refused = refusedVersion(visit)
  const isUnseen = refused?.code === 'newer_version'
  const isWhole = refused !== null && refused.errors.length === 0
  return (
    <>
      {isWhole && (
        <div class="notice bad" role="alert" tabindex={-1} autofocus>
          {!isUnseen ? (
            <p>
              <FormSentence text={refused.detail} />
            </p>
          ) : latest ? (
            <p>
              Version {latest.version} was saved while you were typing, so nothing was changed. What
              you typed is still here: save it again to make it the version after, which then has
              your terms alone.{' '}
              <a href={visit.path} target="_blank" rel="noreferrer">
                See what version {latest.version} changes
              </a>
            </p>
          ) : (
            <p>
              Another one was saved under this name while you were typing, so nothing was saved.
              Save again, or choose another short name.
            </p>
          )}
        </div>
      )}
      {draft.errors.length > 0 && (
        <div class="notice bad" role="alert" tabindex={-1} autofocus>
          <p>{refused && !isWhole && 'Nothing was saved. '}Some fields need another value.</p>
          <ul>
            {draft.errors.map(({ pointer = '', message, hint }) => {
              const [anchor, label] = place(pointer)
              return (
                <li>
                  <a href={`#${anchor}`}>{label}</a>: <Sentence text={message} />{' '}
                  {hint && <Sentence text={hint} />}
                </li>
              )
            })}
          </ul>
        </div>
      )}
    </>
  )
}

/** Renders the values that the browser proposes for fields. */
export const Lists = ({ lists }: { lists: VersionFormProps['lists'] }) => (
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

/** Renders the form of the next version, and beside it what is computed from records. */
export const VersionForm = (props: VersionFormProps, visit = useVisit()) => {
  const { draft, offers, latest, hidden = {}, children, buttons, lists, figures } = props
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
        <WhyRefused {...props} />
        <PlanFormContext.Provider value={{ ...draft, offers }}>{children}</PlanFormContext.Provider>
        <div class="plan-buttons">
          <button type="submit" name="do" value="show" class="plain" formaction="#figures">
            {buttons[0]}
          </button>
          <button type="submit" name="do" value="save">
            {buttons[1]}
          </button>
        </div>
        <Lists lists={lists} />
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
