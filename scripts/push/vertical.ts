import type { Resource } from '../../src/ingest/resource.ts'
import type { Delivery } from './bulks.ts'
import type { CredentialType } from './credentials.ts'
import type { RecordShape } from './reader.ts'

/** A resource that records can be sent to. */
export interface Target extends RecordShape {
  readonly resource: Resource
  /** Whether one bulk may have several records with the same key: they apply in order. */
  readonly mayRepeat: boolean
  /** Whether of several records with this key the last one replaces the others. */
  readonly isId: (key: string) => boolean
  /** Whether records with one id are merged field by field; otherwise the last one counts. */
  readonly merges: boolean
  /** Returns the headers that identify a bulk, so that the API recognizes a repeated one. */
  readonly headersOf: (bulk: Delivery) => Record<string, string>
}

/** A vertical: its address, its credential and its resources. */
export interface Vertical {
  readonly name: string
  readonly path: string
  readonly credential: CredentialType
  readonly resources: readonly Target[]
}
