// The settings of a bucket of an object store.

/** A bucket of an S3-compatible store. */
export interface BucketSettings {
  /** URL of the bucket, with an optional prefix of its keys, such as `https://s3.example/bucket/cards` */
  url: string
  accessKey: string
  secretKey: string
  region: string
}
