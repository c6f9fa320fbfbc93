import * as v from 'valibot'

/**
 * Returns a field with a description and examples for its readers. JSON Schemas and documentation
 * are generated from them; validation skips them.
 */
export function describeField<S extends v.GenericSchema>(
  field: S,
  description: string,
  ...examples: v.InferInput<S>[]
): S {
  const pipe = 'pipe' in field && Array.isArray(field.pipe) ? field.pipe : [field]
  const metadata = v.metadata({ description, ...(examples.length > 0 && { examples }) })
  return { ...field, pipe: [...pipe, metadata] }
}
