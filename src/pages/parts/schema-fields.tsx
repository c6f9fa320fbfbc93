import { useVisit } from '../page.ts'
import type { FieldWords, WordsOf } from './field-words.ts'
import { ChangeForm, type ChangeProps, Field, type Option, Ticks } from './forms.tsx'
import { type Described, describe, formText, type Schemas } from './schema.ts'

interface Fields<S extends Schemas> {
  /** The change to which the fields belong. */
  readonly change: string
  readonly schemas: S
  /** The words of each field. */
  readonly words: WordsOf<keyof S & string>
  /** The present values; absent in a form that creates something. */
  readonly values?: Readonly<Record<string, unknown>> | undefined
  /** Whether all members are sent, not only those that were changed. */
  readonly sendsAll?: boolean
  /** The pointer above the names of the fields. */
  readonly at?: string | undefined
}

const YES_NO: Readonly<Record<string, string>> = { true: 'yes', false: 'no' }

const choiceWords = ({ choices }: FieldWords, choice: string) =>
  choices?.[choice] ?? YES_NO[choice] ?? choice

function optionsOf(
  { choices, isRequired }: Described,
  words: FieldWords,
  value: string,
): readonly Option[] {
  const options = choices.map((choice): Option => [choice, choiceWords(words, choice)])
  return isRequired || value !== '' ? options : [['', 'Default'], ...options]
}

/**
 * Renders the fields of a request from the schemas of its members, each with its words.
 * `changedMembers` returns the members that the form has changed.
 */
export const SchemaFields = <S extends Schemas>(
  { words: allWords, ...form }: Fields<S>,
  { refused } = useVisit(),
) => (
  <div class="members">
    {Object.entries(form.schemas).map(([name, schema]) => {
      const described = describe(schema)
      const words: FieldWords | undefined = allWords[name]
      // The type of `words` has every name of `schemas`.
      if (!words) return null
      const { label, hint } = words
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
              title={label}
              hint={hint}
              ticks={choices.map((one) => ({
                name: `${name}:${one}`,
                label: choiceWords(words, one),
                isTicked: sent ? sent(`${name}:${one}`) !== '' : chosen.includes(one),
              }))}
            />
          ) : (
            <Field
              change={form.change}
              name={name}
              pointer={`${form.at ?? ''}/${name}`}
              label={label}
              value={text}
              required={isRequired}
              hint={hint}
              type={isList ? 'area' : (words.type ?? 'text')}
              options={choices.length > 0 ? optionsOf(described, words, text) : undefined}
            />
          )}
        </>
      )
    })}
  </div>
)

/** Renders a form with the fields of a request. */
export const SchemaForm = <S extends Schemas>(form: ChangeProps & Fields<S>) => (
  <ChangeForm {...form}>
    <SchemaFields {...form} />
  </ChangeForm>
)
