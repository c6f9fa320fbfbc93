import type { Child } from 'hono/jsx'
import { isAtLeast, mayBeShown, type Role, roleWords } from '../../platform/auth/roles.ts'
import {
  FILTERS,
  type FieldError,
  type RefusedForm,
  useVisit,
  type Visit,
  withQuery,
} from '../base/page.ts'
import { Sentence, titleOf } from './data.tsx'
import { placeOf } from './deliveries.tsx'
import { plainWords } from './plain-words.ts'

// The parts of pages that a member fills in.

/** A choice of a field. */
export type Option = readonly [value: string, label: string]

/** A field of a form or of filters. */
export interface Input {
  readonly name: string
  /** If absent, the label is made from the name. */
  readonly label?: string | undefined
  /** `text` if absent; `area` is a text of several lines. `hidden` keeps a value that filters do not change. */
  readonly type?: 'text' | 'date' | 'datetime-local' | 'number' | 'url' | 'area' | 'file' | 'hidden'
  readonly options?: readonly Option[] | undefined
  readonly value?: string | undefined
  readonly hint?: Child
  /** An example, shown while the field is empty. */
  readonly placeholder?: string | undefined
  readonly required?: boolean
  /** Further attributes of the control. */
  readonly attributes?: Readonly<Record<string, string | number | undefined>>
  /** The pointer of the field in the errors of its form. If absent, it is made from the name. */
  readonly pointer?: string
  /** What is wrong with the value. */
  readonly errors?: readonly FieldError[]
}

/** Renders a control without its label. */
export function Control(props: Input & { id?: string; hintId?: string | undefined }) {
  const { id, hintId, name, type = 'text', options, value = '', placeholder, attributes } = props
  const { required = false } = props
  const invalid = props.errors?.length && { 'aria-invalid': 'true' }
  const shared = { id, name, required, 'aria-describedby': hintId, ...invalid, ...attributes }
  if (options) {
    return (
      <select {...shared}>
        {options.map(([key, label]) => (
          <option value={key} selected={key === value}>
            {label}
          </option>
        ))}
      </select>
    )
  }
  if (type === 'file') return <input {...shared} type="file" />
  if (type !== 'area')
    return (
      <input autocomplete="off" {...shared} type={type} value={value} placeholder={placeholder} />
    )
  return (
    <textarea rows={8} spellcheck={false} {...shared}>
      {value}
    </textarea>
  )
}

/** Renders what is wrong with a field. */
export const ErrorTexts = ({ errors }: { errors: readonly FieldError[] }) => (
  <>
    {errors.map(({ message, hint }) => (
      <strong>
        <Sentence text={message} /> {hint && <Sentence text={hint} />}{' '}
      </strong>
    ))}
  </>
)

/**
 * Renders a control with its label, and below it what is wrong and the hint. All fields of all forms are rendered
 * by it. `children` stands beside the control.
 */
export function InputField(props: Input & { id: string; children?: Child }) {
  const { id, errors = [], children, ...input } = props
  const { name, label = titleOf(name), hint } = input
  const hintId = errors.length > 0 || hint ? `${id}-about` : undefined
  return (
    <div class={errors.length > 0 ? 'field wrong' : 'field'} hidden={input.type === 'hidden'}>
      <label for={id}>{label}</label>
      <Control {...input} id={id} hintId={hintId} errors={errors} />
      {children}
      {hintId && (
        <p id={hintId} class="note">
          <ErrorTexts errors={errors} />
          {hint}
        </p>
      )}
    </div>
  )
}

/** A box that can be ticked, or one of several choices. */
interface Tick {
  readonly name: string
  readonly label: Child
  readonly value?: string
  readonly isTicked: boolean | undefined
  /** What it is to a screen reader, if that differs. */
  readonly spoken?: string
}

/** Renders boxes that are ticked, below a title. */
export const Ticks = (props: {
  id?: string
  title: Child
  ticks: readonly Tick[]
  hint?: Child
  errors?: readonly FieldError[]
  /** Whether one of them is chosen. */
  isOne?: true
}) => {
  const { id, title, ticks, hint, errors = [], isOne } = props
  return (
    <fieldset class={errors.length > 0 ? 'choices wrong' : 'choices'} id={id}>
      <legend>{title}</legend>
      {ticks.map(({ name, label, value, isTicked, spoken }) => (
        <label>
          <input
            type={isOne ? 'radio' : 'checkbox'}
            name={name}
            value={value}
            checked={isTicked}
            aria-label={spoken}
          />{' '}
          {label}
        </label>
      ))}
      {(errors.length > 0 || hint) && (
        <p class="note">
          <ErrorTexts errors={errors} />
          {hint}
        </p>
      )}
    </fieldset>
  )
}

/** Renders the filters of a list, which replace the query of its address. An empty one is not applied. */
export const Filters = ({ fields }: { fields: readonly Input[] }, visit = useVisit()) => {
  const refused = refusedForm(visit, FILTERS)
  const typedIn = (name: string) => (refused ? refused.values(name) : visit.query[name])
  const hidden = fields.filter(({ type }) => type === 'hidden')
  const kept = hidden.map(({ name }) => [name, typedIn(name)] as const)
  return (
    <form method="get" action={visit.path} class="filters" data-filters>
      {fields.map((field) => (
        <InputField
          value={typedIn(field.name)}
          {...field}
          {...(refused && { value: refused.values(field.name), errors: faultsOf(refused, field) })}
          id={`filter-${field.name}`}
        />
      ))}
      <button type="submit">Apply</button>
      {fields.some((one) => !hidden.includes(one) && typedIn(one.name)) && (
        <a href={withQuery(visit.path, Object.fromEntries(kept))}>Clear</a>
      )}
    </form>
  )
}

/** Returns why a query was refused if the sentence begins with this field. */
const faultsOf = ({ detail }: RefusedForm, { name }: Input): readonly FieldError[] =>
  detail.startsWith(`\`${name}\``) ? [{ message: plainWords(detail) }] : []

/** A form that makes a change. */
export interface ChangeProps {
  /** The name of the change in the page's `changes`. */
  readonly change: string
  /** The text of the button. */
  readonly submit: string
  /** The lowest role that may make the change: others do not see the form. `manager` if absent. */
  readonly needs?: Role
  readonly children?: Child
  /** The fields below the children. Errors point at their names below `at`. */
  readonly fields?: readonly Input[]
  readonly at?: string
}

/** The field of a file with columns. */
export const CSV_FILE = {
  name: 'file',
  type: 'file',
  attributes: { accept: '.csv,.txt,text/csv,text/plain' },
} as const

/** Renders why a request was refused. What is wrong with its fields is in words already. */
export const FormSentence = ({ text }: { text: string }) => <Sentence text={plainWords(text)} />

/** Renders why a request was refused: each error after its place. Pages show it above all else. */
export const Refusal = ({ detail, errors }: Pick<RefusedForm, 'detail' | 'errors'>) => (
  <div class="notice bad" role="alert" tabindex={-1} autofocus>
    <p>
      <FormSentence text={detail} />
    </p>
    {errors.length > 0 && (
      <ul>
        {errors.map(({ pointer, message, hint }) => (
          <li>
            {pointer && <strong>{placeOf(pointer)}:</strong>} <Sentence text={message} />{' '}
            {hint && <Sentence text={hint} />}
          </li>
        ))}
      </ul>
    )}
  </div>
)

/** Says who can do what a member cannot. */
export const NeedsRole = ({ needs, what }: { needs: Role; what: string }, visit = useVisit()) => (
  <p class="note">{roleWords(visit.member.role, needs, what)}</p>
)

/** Returns whether a member with a scope can never make a change of the page, whatever their role. */
const isBeyondScope = ({ member, changes }: Visit, change: string): boolean => {
  const { shows } = changes?.[change]?.of ?? {}
  return shows !== undefined && !mayBeShown(member, shows)
}

/** Renders a form that makes a change of its page. A `Field` among its children has the same `change`. */
export function ChangeForm(props: ChangeProps, visit = useVisit()) {
  const { change, submit, needs = 'manager', children, fields = [], at = '' } = props
  if (isBeyondScope(visit, change)) return null
  if (!isAtLeast(visit.member.role, needs)) {
    return <NeedsRole needs={needs} what={`“${submit}”`} />
  }
  return (
    // Without an address, the browser keeps the fragment of its own, and scrolls past what was done.
    <form
      method="post"
      action={withQuery(visit.path, visit.query)}
      class="change"
      id={`change-${change}`}
      enctype={fields.some(({ type }) => type === 'file') ? 'multipart/form-data' : undefined}
    >
      <input type="hidden" name="csrf" value={visit.csrf} />
      <input type="hidden" name="change" value={change} />
      {children}
      {fields.map((field) => (
        <Field pointer={`${at}/${field.name}`} {...field} change={change} />
      ))}
      <button type="submit">{submit}</button>
    </form>
  )
}

const refusedForm = ({ refused }: Visit, change: string) =>
  refused?.change === change ? refused : null

/** Returns the errors of a field: those that point at it, or into it. */
function errorsOf(errors: readonly FieldError[], pointer: string) {
  return errors.filter((one) => one.pointer === pointer || one.pointer?.startsWith(`${pointer}/`))
}

/**
 * Renders a field of a `ChangeForm` with its label. If the change was refused, it has what was sent and the
 * errors that point at it. `pointer` is `/` and the name if absent.
 */
export function Field(props: Input & { change: string }, visit = useVisit()) {
  const { change, ...input } = props
  const { name, pointer = `/${name}` } = input
  const refused = refusedForm(visit, change)
  return (
    <InputField
      {...input}
      {...(refused && { value: refused.values(name) })}
      id={`${change}-${name}`}
      errors={errorsOf(refused?.errors ?? [], pointer)}
    />
  )
}

/**
 * Renders a form that is folded until a member opens it, or until its change is refused; nothing if they may not make
 * it. Its title is the text of its button if absent.
 */
export function FoldedForm(
  props: ChangeProps & { title?: string; isDanger?: boolean; isOpen?: boolean },
  visit = useVisit(),
) {
  const { title = props.submit, isDanger = false, isOpen = false, ...form } = props
  if (isBeyondScope(visit, form.change)) return null
  if (!isAtLeast(visit.member.role, form.needs ?? 'manager')) return null
  return (
    <details
      class={isDanger ? 'danger' : undefined}
      open={isOpen || refusedForm(visit, form.change) !== null}
    >
      <summary>{title}</summary>
      <ChangeForm {...form} />
    </details>
  )
}
