import * as v from 'valibot'

/**
 * A field, with what its readers should know: what it means, and values that it may have. Schemas
 * and documents are made of it; to judge by it costs nothing more, since a pipe skips what is said.
 */
export function describeField<S extends v.GenericSchema>(
  field: S,
  description: string,
  ...examples: v.InferInput<S>[]
): S {
  const { pipe = [field] } = field as { pipe?: readonly unknown[] }
  const said = v.metadata({ description, ...(examples.length > 0 && { examples }) })
  return v.pipe(...([...pipe, said] as unknown as [v.GenericSchema])) as unknown as S
}
