import { useVisit } from '../base/page.ts'
import { choiceWords, HINTS } from './field-words.ts'
import { ChangeForm, type ChangeProps, Field, type Option, Ticks } from './forms.tsx'
import { labelOf } from './record-fields.tsx'
import { type Described, describe, formText, type Schemas } from './schema.ts'

interface Fields {
  /** The change to which the fields belong. */
  readonly change: string
  readonly schemas: Schemas
  /** The present values; absent in a form that creates something. */
  readonly values?: Readonly<Record<string, unknown>> | undefined
  /** Whether all members are sent, not only those that were changed. */
  readonly sendsAll?: boolean
  /** What fields are called that their names do not say. */
  readonly labels?: Readonly<Record<string, string>>
  /** The pointer above the names of the fields. */
  readonly at?: string | undefined
}

function optionsOf({ choices, isRequired }: Described, value: string): readonly Option[] {
  const options = choices.map((choice): Option => [choice, choiceWords(choice)])
  return isRequired || value !== '' ? options : [['', 'Default'], ...options]
}

/**
 * Renders the fields of a request from the schemas of its members, each with what it means.
 * `changedMembers` returns the members that the form has changed.
 */
export const SchemaFields = (form: Fields, { refused } = useVisit()) => (
  <div class="members">
    {Object.entries(form.schemas).map(([name, schema]) => {
      const described = describe(schema)
      const shown = { label: form.labels?.[name] ?? labelOf(name), hint: HINTS[name] }
      const { choices, isList, isRequired } = described
      const value = form.values?.[name]
      const chosen = choices.filter((one) => Array.isArray(value) && value.includes(one))
      const hasTicks = isList && choices.length > 0
      const text = hasTicks ? chosen.join() : formText(value)
      const sent = refused?.change === form.change ? refused.values : null
      return (
        <>
          {form.values && !form.sendsAll && (
            <input type="hidden" name={`was:${name}`} value={text} />
          )}
          {hasTicks ? (
            <Ticks
              title={shown.label}
              hint={shown.hint}
              ticks={choices.map((one) => ({
                name: `${name}:${one}`,
                label: choiceWords(one),
                isTicked: sent ? sent(`${name}:${one}`) !== '' : chosen.includes(one),
              }))}
            />
          ) : (
            <Field
              change={form.change}
              name={name}
              pointer={`${form.at ?? ''}/${name}`}
              {...shown}
              value={text}
              required={isRequired}
              type={isList || /(?:^|_)text$/.test(name) ? 'area' : 'text'}
              options={choices.length > 0 ? optionsOf(described, text) : undefined}
            />
          )}
        </>
      )
    })}
  </div>
)

/** Renders a form with the fields of a request. */
export const SchemaForm = (form: ChangeProps & Fields) => (
  <ChangeForm {...form}>
    <SchemaFields {...form} />
  </ChangeForm>
)
