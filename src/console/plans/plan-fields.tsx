import type { Child } from 'hono/jsx'
import { transactionWord } from '../../commission/plans/plan-words.ts'
import { createContext, useContext } from '../../pages/base/context.ts'
import type { FieldError, Values } from '../../pages/base/page.ts'
import { titleOf } from '../../pages/parts/data.tsx'
import { ErrorTexts, InputField, Ticks } from '../../pages/parts/forms.tsx'
import type { Atom, EntryList, Field, Group, Members, OneOf } from './form/fields.ts'
import { chosenForm, rowCount, tickedNames } from './form/form.ts'

// The fields of a plan or of a fraud rule, from their descriptions.

/** What the account has, for the fields of a plan. */
export interface Offers {
  /** The values that fields propose, by their names; of `transactions` the boxes. */
  readonly lists: ReadonlyMap<string, readonly string[]>
  /** The forms and conditions of which the account can have no record. They are shown where somebody has used them. */
  readonly without: ReadonlySet<string>
}

/** What the fields of a plan show. */
interface PlanForm {
  readonly values: Values
  readonly errors: readonly FieldError[]
  readonly offers: Offers
}

/** The form whose fields are rendered. */
export const PlanFormContext = createContext<PlanForm>({
  values: () => '',
  errors: [],
  offers: { lists: new Map(), without: new Set() },
})

/** Returns the form whose fields are rendered. A component has it as its second parameter. */
const useForm = () => useContext(PlanFormContext)

interface Props<F> {
  readonly field: F
  /** The name of the field, or of its first part. */
  readonly name: string
}

const isAt = (pointer: string | undefined, name: string) =>
  pointer === `/${name}` || pointer?.startsWith(`/${name}/`)

/** Renders the errors of a list or of an object as a whole. */
const OwnErrors = ({ name }: { name: string }, { errors } = useForm()) => (
  <ErrorTexts errors={errors.filter(({ pointer }) => pointer === `/${name}`)} />
)

/** Returns the choices of a field; undefined for a text. Nothing chosen is shown as what it means. */
function choicesOf(field: Atom, value: string) {
  if (field.is === 'flag') {
    return [[value === 'false' ? 'false' : '', 'No'] as const, ['true', 'Yes'] as const]
  }
  if (field.is !== 'choice') return undefined
  const { options, isRequired } = field
  const [first, ...others] = options
  if (isRequired) return value === '' ? [['', 'Choose'] as const, ...options] : options
  return value === first?.[0] || !first ? options : [['', first[1]] as const, ...others]
}

function AtomField({ field, name }: Props<Atom>, { values, errors, offers } = useForm()) {
  const own = errors.filter(({ pointer }) => isAt(pointer, name))
  const offered = offers.lists.get(field.offer ?? '')
  if (field.is === 'ticks') {
    const ticked = tickedNames(values, name)
    const labels = new Map(field.options)
    const others = labels.size > 0 ? labels.keys() : (offered ?? [])
    return (
      <Ticks
        id={name}
        title={field.label}
        errors={own}
        ticks={[...new Set([...ticked, ...others])].map((one, i) => ({
          name: `${name}:${i}`,
          value: one,
          label: labels.get(one) ?? titleOf(transactionWord(one)),
          isTicked: ticked.includes(one),
        }))}
      />
    )
  }
  const exact = values(`${name}=`)
  return (
    <InputField
      id={name}
      name={name}
      label={field.label}
      hint={field.hint}
      errors={own}
      value={values(name)}
      type={field.is === 'day' ? 'date' : 'text'}
      options={choicesOf(field, values(name))}
      placeholder={field.placeholder}
      attributes={{
        inputmode: field.is === 'whole' ? 'numeric' : undefined,
        list: offered && `offer-${field.offer}`,
        'data-list': field.is === 'list' ? '' : undefined,
      }}
    >
      {exact && <input type="hidden" name={`${name}=`} value={exact} />}
    </InputField>
  )
}

interface RowButtonProps {
  /** What the button does, such as `add rules/0/base`. */
  readonly does: string
  /** The id of the element that the browser then shows. */
  readonly at: string
  readonly label?: string
  readonly children?: Child
}

/** Renders a button that shows the form again with other fields. Nothing is stored. */
const RowButton = ({ does, at, label, children }: RowButtonProps) => (
  <button
    type="submit"
    name="do"
    value={does}
    class="plain"
    formaction={`#${at}`}
    formnovalidate
    aria-label={label}
  >
    {children}
  </button>
)

/** Returns the forms of an object that the account can have, and their words. */
const offeredForms = ({ forms }: OneOf, { without }: Offers) =>
  Object.entries(forms).flatMap(([name, { label }]) =>
    without.has(name) ? [] : [[name, label] as const],
  )

/** Renders the entries of a list, which can be removed, and the buttons that add one. */
function Rows({ field, name }: Props<EntryList>, { values, offers } = useForm()) {
  const { label, one, item, hint } = field
  const count = rowCount(values, name)
  const forms = item.is === 'oneOf' ? offeredForms(item, offers) : [['', `Add a ${one}`] as const]
  return (
    <fieldset class="rows" id={name}>
      <legend>{label}</legend>
      <input type="hidden" name={`${name}#`} value={String(count)} />
      <OwnErrors name={name} />
      {Array.from({ length: count }, (_, i) => (
        <ObjectField field={item} name={`${name}/${i}`} title={`${titleOf(one)} ${i + 1}`}>
          <RowButton
            does={`remove ${name}/${i}`}
            at={name}
            label={`Remove ${one} ${i + 1}`}
            children="Remove"
          />
        </ObjectField>
      ))}
      <p>
        {item.is === 'oneOf' && `Add a ${one}: `}
        {forms.map(([form, words]) => (
          <RowButton does={`add ${name} ${form}`} at={`${name}/${count}`} children={words} />
        ))}
        {hint && <span class="note"> {hint}</span>}
      </p>
    </fieldset>
  )
}

/** Renders the members of an object; of one that has several forms those of the chosen one, and the choice. */
function ObjectField(
  { field, name, title, children }: Props<Group | OneOf> & { title?: string; children?: Child },
  { values, offers } = useForm(),
) {
  const isRow = title !== undefined
  const chosen = values(`${name}@`)
  const form = field.is === 'oneOf' ? chosenForm(field, chosen) : field
  const words = field.is === 'oneOf' ? form?.label : undefined
  const others = field.is === 'oneOf' && !isRow ? offeredForms(field, offers) : []
  return (
    <fieldset class="group" id={name}>
      <legend>{[title ?? field.label, words].filter(Boolean).join(': ')}</legend>
      <OwnErrors name={name} />
      {field.is === 'oneOf' && <input type="hidden" name={`${name}@`} value={chosen} />}
      {form && (
        <div class="plan-fields">
          <Fields members={form.members} path={name} />
        </div>
      )}
      {others.length > 0 && (
        <p>
          {chosen && 'Instead: '}
          {others.map(
            ([one, label]) =>
              one !== chosen && (
                <RowButton does={`choose ${name} ${one}`} at={name} children={label} />
              ),
          )}
          {chosen && !field.isRequired && (
            <RowButton does={`choose ${name}`} at={name} children="None" />
          )}
        </p>
      )}
      {children}
    </fieldset>
  )
}

/** Returns whether the fields of a member have something. */
function isFilled(field: Field, name: string, values: Values): boolean {
  if (field.is === 'rows') return rowCount(values, name) > 0
  if (field.is === 'oneOf') return values(`${name}@`) !== ''
  if (field.is === 'ticks') return tickedNames(values, name).length > 0
  if (field.is !== 'group') return values(name) !== ''
  return Object.entries(field.members).some(([one, inner]) =>
    isFilled(inner, `${name}/${one}`, values),
  )
}

/** Renders the fields of members: those that are folded while they are empty stand last. */
export const Fields = (
  { members, path }: { members: Members; path: string },
  { values, errors, offers } = useForm(),
) => {
  const all = Object.entries(members).flatMap(([one, field]) => {
    const name = path === '' ? one : `${path}/${one}`
    const isUsed =
      isFilled(field, name, values) || errors.some(({ pointer }) => isAt(pointer, name))
    const isOffered = !offers.without.has(one.replace(/^not_/, ''))
    return isUsed || isOffered ? [{ field, name, isFolded: field.isFolded && !isUsed }] : []
  })
  const folded = all.filter(({ isFolded }) => isFolded)
  return (
    <>
      {all.map((one) => !one.isFolded && <FieldOf {...one} />)}
      {folded.length > 0 && (
        <details>
          <summary>{folded.length < all.length ? 'More' : 'Conditions'}</summary>
          <div class="plan-fields">
            {folded.map((one) => (
              <FieldOf {...one} />
            ))}
          </div>
        </details>
      )}
    </>
  )
}

/** Renders a field of a plan. */
const FieldOf = ({ field, name }: Props<Field>): Child => {
  if (field.is === 'rows') return <Rows field={field} name={name} />
  if (field.is === 'group' || field.is === 'oneOf') return <ObjectField field={field} name={name} />
  return <AtomField field={field} name={name} />
}
