import type { AnyOperation, InputOf } from '../platform/http/operation.ts'
import type { Change, Values, Visit } from './base/page.ts'
import { changedMembers } from './parts/schema.ts'

/** Some members of an object; as in JSON, one that is undefined is absent. */
type Partially<T> = { readonly [Name in keyof T]?: T[Name] | undefined }

/**
 * Returns a change that calls an operation. Its parameters come from the path of the page, else from the fields of the
 * form, else from the query; the members of its body from the fields that have their names. `others` has what the form
 * sends otherwise.
 */
export const calling = <O extends AnyOperation>(
  of: O,
  done: Change['done'],
  others: (
    values: Values,
    visit: Visit,
  ) => Partially<InputOf<O>> | Promise<Partially<InputOf<O>>> = () => ({}),
): Change => ({
  of,
  done,
  async perform(values, visit) {
    const { account, params, query } = visit
    const own = Object.keys(of.params).flatMap((name) => {
      const value = params[name] ?? (values(name).trim() || query[name])
      return value ? [[name, value]] : []
    })
    return visit.api.call(of, {
      ...(account !== '' && { account }),
      ...Object.fromEntries(own),
      ...changedMembers(of.body, (name) => params[name] ?? values(name)),
      ...(await others(values, visit)),
    })
  },
})
