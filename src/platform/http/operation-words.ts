import type * as v from 'valibot'
import type { Role, Shows } from '../auth/roles.ts'
import type { ErrorCode } from '../errors.ts'

// What can be told about an operation without calling it: from this OpenAPI and commands are made.

/** A value that nobody changes, with all that is in it. */
export type Fixed<T> = T extends object ? { readonly [N in keyof T]: Fixed<T[N]> } : T

/** The schema of an answer; null if the answer has no body. */
export type AnswerSchema = v.GenericSchema | null

/** The command of an operation. Its arguments are the members of the path, its options all others. */
export interface CommandWords {
  /** Such as `links create`. */
  readonly name: string
  /** A member of the body or the query that is an argument, after those of the path. */
  readonly argument?: string
  /** What the command prints if the answer has no body. `{link_id}` stands for an argument. */
  readonly done?: string
  /** The warning before a change that cannot be undone, and what the person then types. */
  readonly confirm?: {
    readonly warning: string
    readonly name: string
    /** The options with which the change cannot be undone; with any if absent. */
    readonly if?: Readonly<Record<string, string>>
  }
  /** What to do if it is unknown whether the request took effect. */
  readonly recovery?: string
  /** The member of the answer that is a secret. */
  readonly secret?: string
  /** The member of an item of a list whose own items are the rows of the table. */
  readonly rows?: string
  /** The columns of a list, as far as rows have them; all members if absent. */
  readonly columns?: readonly string[]
}

/** What is told about another format of an answer. */
export interface FileWords {
  readonly example?: string
  /** The file has bytes instead of text. */
  readonly isBinary?: true
  readonly headers?: readonly string[]
}

/** Converts `prop-trading` to `PropTrading`, and `Trading activity` to `TradingActivity`. */
export const pascalCase = (text: string): string =>
  text.replace(/(?:^|[- ])(.)/g, (_, letter: string) => letter.toUpperCase())

/** Returns the name that a record has in OpenAPI, such as `ForexCustomer`. */
export const componentOf = (vertical: string, title: string): string =>
  pascalCase(vertical) + pascalCase(title)

/**
 * Returns the id of an operation for a caller other than the team: with the caller after the verb, such as
 * `getForexReport` and `getAffiliateReport` of `getReport`. What only affiliates have keeps its id.
 */
export const idFor = (
  { of }: Pick<DescribedOperation, 'of'>,
  id: string,
  caller: string,
): string => (of === 'affiliate' ? id : id.replace(/^[a-z]+/, (verb) => verb + caller))

/** Returns whether a caller may call an operation. */
export const isFor = ({ callers }: Pick<DescribedOperation, 'callers'>, caller: CallerKind) =>
  callers.includes(caller)

/** Who calls an operation: the team for an account, the account itself, one of its affiliates, or anyone. */
export type CallerKind = 'team' | 'account' | 'affiliate' | 'anyone'

/** What is told about an operation. It is left out of the bundle for production. */
export interface OperationWords<A extends AnswerSchema = AnswerSchema> {
  readonly description: string
  /** The schema of the answer; null if it has no body. */
  readonly answer: A
  /** The schemas of answers with another status: see `reply`. */
  readonly others?: Readonly<Partial<Record<200 | 201 | 202 | 207, v.GenericSchema>>>
  /** The other formats of the answer, by media type. */
  readonly files?: Readonly<Record<string, FileWords>>
  /** The headers that a request may have, and those of the answer, beyond what all have. */
  readonly accepts?: readonly string[]
  readonly headers?: readonly string[]
  readonly errors?: readonly ErrorCode[]
  readonly command?: CommandWords
  /** The parameter of OpenAPI that describes the account, if not every account fits. */
  readonly account?: 'brand_account' | 'test_account'
}

/** An operation, but for what it does. */
export interface DescribedOperation {
  /** Its name in OpenAPI. */
  readonly id: string
  /** Its tag in OpenAPI, which is a page of the reference. */
  readonly topic: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below `/admin/v1`, such as `/accounts/{account}/links/{link_id}`. */
  readonly path: string
  /** What it is of: an account, the affiliate who calls, or the team, if it concerns no account or all. */
  readonly of: 'team' | 'account' | 'affiliate'
  /** The lowest role of members of the team who may call it. */
  readonly role: Role
  /** Of what it is, for members of the team with a scope. Absent if the team has no such operation. */
  readonly shows?: Shows
  /** Whether the affiliates that its input names may be new. */
  readonly adds?: true
  /** The members of the path, but for the account, and of the query. */
  readonly params: v.ObjectEntries
  /** The members of the body. */
  readonly body: v.ObjectEntries
  /**
   * The value of a member of `body` is itself the body, and `run` validates it: `csv` of a CSV file, the other one of
   * JSON.
   */
  readonly whole?: true
  /** The most bytes of a file of any type, which the member `file` of `body` is. */
  readonly maxBytes?: number
  readonly status?: 200 | 201 | 202
  /** Who may call it. */
  readonly callers: readonly CallerKind[]
  /** The parameters that some callers do not have. */
  readonly except?: Readonly<Partial<Record<CallerKind, readonly string[]>>>
  readonly words: OperationWords | undefined
}
