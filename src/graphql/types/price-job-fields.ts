// Price jobs, as under /plus/price-jobs over REST.
import { call } from '#core/verb.ts'
import { OPERATION_PLAN } from '#core/plans.ts'
import { renameFields, type Reason, textOf } from '#core/problems.ts'
import { invalid } from '#core/errors.ts'
import { applyPriceJob } from '#market/jobs/apply-price-job.ts'
import { getPriceJob } from '#market/jobs/get-price-job.ts'
import { listPriceJobs } from '#market/jobs/list-price-jobs.ts'
import { planPriceJob } from '#market/jobs/plan-price-job.ts'
import type { PriceJob, PriceJobRow, PriceJobSummary } from '#market/jobs/types.ts'
import { undoPriceJob } from '#market/jobs/undo-price-job.ts'
import { idOf, withoutNulls } from '../building/arguments.ts'
import { type Builder, cost, fromDatabase, requiresPlan, type Refs } from '../building/builder.ts'
import { camelCase } from '../execution/errors.ts'
import { callByFields } from './mutating.ts'
import { nullIfMissing } from './query.ts'

const ROWS_FIRST = { default: 100, max: 500 }
const JOBS_READ = { ...fromDatabase, ...requiresPlan(OPERATION_PLAN.listPriceJobs) }

type Job = PriceJobSummary & Partial<Pick<PriceJob, 'rows'>>
interface RowPage {
  rows: PriceJobRow[]
  hasNextPage: boolean
}
type Refusal = NonNullable<PriceJobRow['refused']>[number]

export function implementPriceJobs(builder: Builder, refs: Refs): void {
  const job = addTypes(builder, refs)
  builder.queryFields((t) => ({
    priceJobs: t.field({
      type: [job],
      nullable: { list: false, items: false },
      description: 'Your price jobs, newest first; kept for 90 days. Plus and Enterprise.',
      extensions: { ...cost({ weight: 10, entries: 20 }), ...JOBS_READ },
      args: {
        ruleId: t.arg.int({ description: 'Only runs of this repricing rule.' }),
        page: t.arg.int({ description: 'Page number, from 1.' }),
        perPage: t.arg.int({ description: 'Jobs per page, 1 to 100; default: 20.' }),
      },
      resolve: async (_root, args, ctx, info) => (await callByFields(listPriceJobs, ctx, info, withoutNulls(args))).rows,
    }),
    priceJob: t.field({
      type: job,
      description: 'One of your price jobs by id; null if it does not exist. Plus and Enterprise.',
      extensions: { ...cost({ weight: 10 }), ...JOBS_READ },
      args: { id: t.arg.id({ required: true, description: 'Id of the job.' }) },
      resolve: (_root, { id }, ctx) => call(getPriceJob, ctx, { id: idOf(id) as number }).catch(nullIfMissing),
    }),
  }))
  const row = builder.inputType('PriceJobRowInput', {
    description: 'New price, stock or both for one of your listings, given by id or SKU.',
    fields: (t) => ({
      listingId: t.id({ description: 'Id of the listing, or its SKU.' }),
      sku: t.string({ description: 'Your stock-keeping unit.' }),
      price: t.float({ description: 'In TL; default: unchanged.' }),
      quantity: t.int({ description: 'Units in stock; default: unchanged.' }),
    }),
  })
  builder.mutationFields((t) => {
    const id = t.arg.id({ required: true, description: 'Id of one of your price jobs.' })
    const path = (args: { id: string | number }) => ({ id: ['id', idOf(args.id)] }) as const
    return {
      planPriceJob: t.field({
        type: job,
        description: 'Plans new prices and stock for many listings. Nothing changes until you apply the job, within 24 hours.',
        args: {
          rows: t.arg({ type: [row], required: true, description: '1 to 10,000 rows, within the request size limit.' }),
          policy: t.arg.string({
            description: '`all` (default): applied only if no row is refused; `good_rows`: refused rows are skipped.',
          }),
        },
        resolve: (_root, { rows, policy }, ctx, info) =>
          callByFields(planPriceJob, ctx, info, {
            ...withoutNulls({ policy }),
            rows: rows.map(({ listingId, ...others }) => rowOf(listingId, others)),
          }),
      }),
      applyPriceJob: t.field({
        type: job,
        description: 'Applies a planned job: checks every row again and commits all rows in one transaction.',
        args: { id },
        resolve: (_root, args, ctx, info) => callByFields(applyPriceJob, ctx, info, {}, path(args)),
      }),
      undoPriceJob: t.field({
        type: job,
        description: 'Undoes an applied job: listings unchanged since the job get their old price and stock back.',
        args: { id },
        resolve: (_root, args, ctx, info) => callByFields(undoPriceJob, ctx, info, {}, path(args)),
      }),
    }
  })
}

function rowOf(listingId: string | number | null | undefined, others: object): object {
  return withoutNulls({ listing_id: listingId === null || listingId === undefined ? listingId : idOf(listingId), ...others })
}

function addTypes(builder: Builder, refs: Refs) {
  const refusal = builder.objectRef<Refusal>('PriceJobRefusal').implement({
    description: 'Why a row of a price job is refused.',
    fields: (t) => ({
      field: t.string({ nullable: false, description: 'The field that is wrong.', resolve: ({ field }) => camelCase(field) }),
      message: t.string({ nullable: false, description: 'Human-readable message: what is allowed.', resolve: (why) => message(why) }),
      rule: t.exposeString('rule', { description: 'Machine-readable name of the rule.' }),
    }),
  })
  const warning = builder.objectRef<PriceJobRow['warnings'][number]>('PriceJobWarning').implement({
    description: 'What to check in a row of a price job before applying it.',
    fields: (t) => ({
      message: t.string({ nullable: false, description: 'Human-readable message.', resolve: (why) => message(why) }),
      rule: t.exposeString('rule', { nullable: true, description: 'Machine-readable name of the rule.' }),
    }),
  })
  const row = builder.objectRef<PriceJobRow>('PriceJobRow').implement({
    description: 'A row of a price job.',
    fields: (t) => ({
      row: t.exposeInt('row', { nullable: false, description: 'Position in the job, from 1.' }),
      listingId: t.id({ description: 'null if no listing matches the row.', resolve: ({ listing_id: id }) => id }),
      sku: t.exposeString('sku', { nullable: true, description: 'Set if the row names its listing by SKU.' }),
      oldPrice: t.exposeFloat('old_price', { nullable: true, description: 'Price when the job was planned, in TL.' }),
      newPrice: t.exposeFloat('new_price', { nullable: true, description: 'In TL; null if the price stays the same.' }),
      oldQuantity: t.exposeInt('old_quantity', { nullable: true, description: 'Stock when the job was planned.' }),
      newQuantity: t.exposeInt('new_quantity', { nullable: true, description: 'null if the stock stays the same.' }),
      payout: t.exposeFloat('payout', { nullable: true, description: 'Your payout for one unit, in TL.' }),
      rank: t.exposeInt('rank', {
        nullable: true,
        description: "Price rank among other sellers' listings of the same item and grade, 1 is the cheapest; null if it would not be published.",
      }),
      refused: t.field({
        type: [refusal],
        nullable: { list: true, items: false },
        description: 'Why the row cannot be applied; null if it can.',
        extensions: cost({ entries: 1 }),
        resolve: (one) => one.refused,
      }),
      marketPrice: t.exposeFloat('market_price', {
        nullable: true,
        description: 'Trusted market price of the item and grade when the job was planned, in TL.',
      }),
      warnings: t.field({
        type: [warning],
        nullable: { list: false, items: false },
        description: 'What to check before applying: a large change, or a price far from the market.',
        extensions: cost({ entries: 1 }),
        resolve: (one) => one.warnings,
      }),
      outcome: t.exposeString('outcome', {
        nullable: true,
        description: '`changed`, `reversed`, `kept` (the listing changed in the meantime) or `failed`; null before the job is applied.',
      }),
      why: t.string({ description: 'Human-readable reason it was kept or failed.', resolve: ({ why }) => why && message(why) }),
    }),
  })
  const page = builder.objectRef<RowPage>('PriceJobRowConnection').implement({
    description: 'Rows of a price job, by position.',
    fields: (t) => ({
      nodes: t.field({ type: [row], nullable: { list: false, items: false }, description: 'The rows.', resolve: ({ rows }) => rows }),
      pageInfo: t.field({
        type: refs.pageInfo,
        nullable: false,
        description: 'Position of the page.',
        resolve: ({ rows, hasNextPage }) => ({ hasNextPage, endCursor: () => rows.at(-1)?.row.toString() ?? null }),
      }),
    }),
  })
  return builder.objectRef<Job>('PriceJob').implement({
    description: 'New prices and stock for many of your listings, planned, applied and undone as one. Times are local, with offset.',
    fields: (t) => ({
      id: t.exposeID('id', { nullable: false, description: 'Unique id.' }),
      state: t.exposeString('state', { nullable: false, description: '`planned`, `applied`, `undone` or `expired`.' }),
      policy: t.exposeString('policy', { nullable: false, description: '`all` or `good_rows`.' }),
      rowsTotal: t.exposeInt('rows_total', { nullable: false, description: 'Number of rows.' }),
      ruleId: t.id({ description: 'Repricing rule that created the job; null for other jobs.', resolve: (of) => of.rule_id }),
      rowsRefused: t.exposeInt('rows_refused', { nullable: false, description: 'Rows refused when the job was planned.' }),
      changed: t.exposeInt('changed', { nullable: false, description: 'Rows whose listing is unchanged since the job.' }),
      reversed: t.exposeInt('reversed', { nullable: false, description: 'Rows reversed by the undo.' }),
      kept: t.exposeInt('kept', { nullable: false, description: 'Rows skipped because their listing had changed.' }),
      failed: t.exposeInt('failed', { nullable: false, description: 'Rows refused when they were applied or reversed.' }),
      createdAt: t.exposeString('created_at', { nullable: false, description: 'When it was planned.' }),
      expiresAt: t.exposeString('expires_at', { nullable: false, description: 'When the plan expires.' }),
      appliedAt: t.exposeString('applied_at', { nullable: true, description: 'When it was applied.' }),
      undoneAt: t.exposeString('undone_at', { nullable: true, description: 'When it was undone.' }),
      ignoredColumns: t.exposeStringList('ignored_columns', {
        nullable: false,
        description: 'Columns of the CSV that were not read.',
      }),
      rows: t.field({
        type: page,
        nullable: false,
        description: 'Rows with their planned or actual effect.',
        extensions: cost({ weight: 10, first: ROWS_FIRST }),
        args: {
          first: t.arg.int({ defaultValue: ROWS_FIRST.default, description: `Rows per page, 1 to ${ROWS_FIRST.max}.` }),
          after: t.arg.string({ description: 'The `endCursor` of the previous page.' }),
        },
        resolve: async ({ id, rows }, { first, after }, ctx) => rowPage(rows ?? (await call(getPriceJob, ctx, { id })).rows, first, after),
      }),
    }),
  })
}

/** @throws VALIDATION_ERROR */
function rowPage(rows: PriceJobRow[], first: number | null | undefined, after: string | null | undefined): RowPage {
  const limit = first ?? ROWS_FIRST.default
  if (limit < 1 || limit > ROWS_FIRST.max) throw invalid('first', 'integer', { min: 1, max: ROWS_FIRST.max })
  const from = after === null || after === undefined ? 0 : Number(/^\d{1,5}$/.exec(after)?.[0] ?? Number.NaN)
  if (Number.isNaN(from)) throw invalid('after', 'cursor')
  return { rows: rows.slice(from, from + limit), hasNextPage: from + limit < rows.length }
}

/** The message with field names as in GraphQL. */
function message({ rule, params }: { rule?: string; params?: object }): string {
  return textOf(renameFields({ rule, params } as Reason, { nameOf: camelCase }))
}
