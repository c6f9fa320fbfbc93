import { Hono } from 'hono'
import type { Caller } from '../auth/authorize.ts'
import { receive } from '../ingest/receive.ts'
import { readable } from '../reading/record-routes.ts'
import type { BrandResource } from './resource.ts'

/** What a brand may do with its customers and their activity: send records, and read them back. */
export const brandRoutes = (resource: BrandResource) =>
  new Hono<Caller>()
    .post('/', (c) => receive(c, resource))
    .route('/', readable(resource, 'customerid'))
