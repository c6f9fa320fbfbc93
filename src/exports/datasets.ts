import type { RecordView } from '../ingest/db/list.ts'
import { BOOK_DATASETS } from './books.ts'
import type { Dataset } from './dataset.ts'
import { recordDataset } from './records.ts'

/** Returns the resources of an export: those that the accounts of a vertical send, and their books. */
export const datasetsOf = (vertical: string, views: readonly RecordView[]): readonly Dataset[] => [
  ...views.map((view) => recordDataset(view, vertical)),
  ...BOOK_DATASETS,
]
