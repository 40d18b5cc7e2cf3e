//! The operations of the service that the bucket answers; `s3s` refuses all others as not implemented.

use hyper::StatusCode;
use hyper::header::HeaderName;
use s3s::dto::{
    AbortMultipartUploadInput, AbortMultipartUploadOutput, CompleteMultipartUploadInput,
    CompleteMultipartUploadOutput, CompletedPart, CopyObjectInput, CopyObjectOutput, CopyObjectResult,
    CopyPartResult, CreateBucketInput, CreateBucketOutput, CreateMultipartUploadInput,
    CreateMultipartUploadOutput, DeleteBucketInput, DeleteBucketOutput, DeleteObjectInput,
    DeleteObjectOutput, DeleteObjectsInput, DeleteObjectsOutput, DeletedObject, ETag, ETagCondition,
    GetBucketLocationInput, GetBucketLocationOutput, GetObjectInput, GetObjectOutput, GetObjectTaggingInput,
    GetObjectTaggingOutput, HeadBucketInput, HeadBucketOutput, HeadObjectInput, HeadObjectOutput,
    ListBucketsInput, ListBucketsOutput, ListObjectsInput, ListObjectsOutput, ListObjectsV2Input,
    ListObjectsV2Output, MetadataDirective, ObjectIdentifier, PostObjectInput, PostObjectOutput,
    PutObjectInput, PutObjectOutput, UploadPartCopyInput, UploadPartCopyOutput, UploadPartInput,
    UploadPartOutput,
};
use s3s::{S3, S3Request, S3Response, S3Result, s3_error};

use crate::draw::Fault;

use super::bucket::{self, Bucket};
use super::buckets::Buckets;
use super::condition::{Reading, Writing};
use super::copy;
use super::description::Description;
use super::digest::{self, Digests};
use super::has;
use super::known;
use super::listing::{self, ListRequest};
use super::object::Object;

/// Objects that one request can delete (<https://docs.aws.amazon.com/AmazonS3/latest/API/API_DeleteObjects.html>).
const DELETED_MAX: usize = 1000;

type Answer<T> = S3Result<S3Response<T>>;

/// The conditions of a read, from the fields that `s3s` has read them into.
macro_rules! reading {
    ($input:ident: $matching:ident, $not_matching:ident, $modified_since:ident, $unmodified_since:ident) => {
        Reading {
            matching: $input.$matching,
            not_matching: $input.$not_matching,
            modified_since: $input.$modified_since,
            unmodified_since: $input.$unmodified_since,
        }
    };
}

/// The answer to an upload: its ETag and the checksums that were declared of it.
macro_rules! summed {
    ($output:ident, $e_tag:expr, $checksum:expr) => {
        $output {
            e_tag: Some($e_tag),
            checksum_crc32: $checksum.checksum_crc32,
            checksum_crc32c: $checksum.checksum_crc32c,
            checksum_crc64nvme: $checksum.checksum_crc64nvme,
            checksum_sha1: $checksum.checksum_sha1,
            checksum_sha256: $checksum.checksum_sha256,
            ..$output::default()
        }
    };
}

#[async_trait::async_trait]
impl S3 for Buckets {
    async fn get_object(&self, request: S3Request<GetObjectInput>) -> Answer<GetObjectOutput> {
        known::only(&request, known::SAID, &[known::READING, known::CHECKED])?;
        let overridden = |name: &HeaderName| has(request.uri.query(), &format!("response-{name}"));
        let is_corrupted = request.extensions.get() == Some(&Fault::Corrupted);
        let input = request.input;
        let reading = reading!(input: if_match, if_none_match, if_modified_since, if_unmodified_since);
        let (object, range) = self.bucket(&input.bucket)?.read(&input.key, &reading, input.range)?;
        let length = object.content.length();
        let content_range =
            range.as_ref().map(|range| format!("bytes {}-{}/{length}", range.start, range.end - 1));
        let range = range.unwrap_or(0..length);
        let headers = object.description.headers(overridden);
        let output = GetObjectOutput {
            accept_ranges: Some("bytes".to_owned()),
            content_length: Some((range.end - range.start).cast_signed()),
            content_range,
            e_tag: Some(object.e_tag()),
            last_modified: Some(object.modified()),
            body: Some(bucket::body(object, range, &self.shape, is_corrupted)),
            ..GetObjectOutput::default()
        };
        Ok(S3Response::with_headers(output, headers))
    }

    async fn head_object(&self, request: S3Request<HeadObjectInput>) -> Answer<HeadObjectOutput> {
        known::only(&request, &[], &[known::READING, known::CHECKED])?;
        let input = request.input;
        let reading = reading!(input: if_match, if_none_match, if_modified_since, if_unmodified_since);
        let (object, range) = self.bucket(&input.bucket)?.read(&input.key, &reading, input.range)?;
        let range = range.unwrap_or(0..object.content.length());
        let output = HeadObjectOutput {
            accept_ranges: Some("bytes".to_owned()),
            content_length: Some((range.end - range.start).cast_signed()),
            e_tag: Some(object.e_tag()),
            last_modified: Some(object.modified()),
            ..HeadObjectOutput::default()
        };
        Ok(S3Response::with_headers(output, object.description.headers(|_| false)))
    }

    async fn put_object(&self, request: S3Request<PutObjectInput>) -> Answer<PutObjectOutput> {
        known::only(&request, &[], &[known::WRITING, known::DIGESTS, known::DESCRIPTION])?;
        let (digests, description) = (Digests::declared(&request)?, Description::of(&request.headers));
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        listing::check_text("key", &input.key)?;
        let writing = Writing::new(input.if_match, input.if_none_match)?;
        // Looked at here to refuse early, and again under the lock that keeps the object.
        bucket.may_write(&input.key, &writing)?;
        let bytes = bucket.receive(input.body, digests).await?;
        let checksum = bytes.checksum.clone();
        let e_tag = bucket.keep(input.key, Object::of_part(bytes, description), &writing)?;
        Ok(S3Response::new(summed!(PutObjectOutput, e_tag, checksum)))
    }

    /// Uploads from forms of browsers have conditions of their own.
    async fn post_object(&self, _request: S3Request<PostObjectInput>) -> Answer<PostObjectOutput> {
        Err(s3_error!(NotImplemented, "an upload from a form; use PUT"))
    }

    async fn get_object_tagging(
        &self,
        request: S3Request<GetObjectTaggingInput>,
    ) -> Answer<GetObjectTaggingOutput> {
        known::only(&request, &["tagging"], &[])?;
        self.bucket(&request.input.bucket)?.object(&request.input.key)?;
        // Whoever would set tags is refused.
        Ok(S3Response::new(GetObjectTaggingOutput { tag_set: Vec::new(), version_id: None }))
    }

    async fn copy_object(&self, request: S3Request<CopyObjectInput>) -> Answer<CopyObjectOutput> {
        known::only(
            &request,
            &[],
            &[known::SOURCE, known::WRITING, known::DESCRIPTION, &["x-amz-metadata-directive"]],
        )?;
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        listing::check_text("key", &input.key)?;
        let reading = reading!(
            input: copy_source_if_match, copy_source_if_none_match, copy_source_if_modified_since,
            copy_source_if_unmodified_since
        );
        let writing = Writing::of_headers(&request.headers)?;
        let (from, source) = self.source(&input.copy_source, &reading)?;
        // S3 copies up to 5 GiB at once. A client that was never refused here would fail there.
        copy::check_length(&source)?;
        let description = match input.metadata_directive.as_ref().map(MetadataDirective::as_str) {
            Some(MetadataDirective::REPLACE) => Description::of(&request.headers),
            // As S3 does: nothing of the object would change.
            None | Some(MetadataDirective::COPY) if from == (input.bucket.as_str(), input.key.as_str()) => {
                return Err(s3_error!(InvalidRequest, "a copy of an object onto itself changes nothing"));
            }
            None | Some(MetadataDirective::COPY) => source.description.clone(),
            Some(_) => return Err(s3_error!(InvalidArgument, "a metadata directive is COPY or REPLACE")),
        };
        let copy = source.copied(description);
        let last_modified = Some(copy.modified());
        let e_tag = Some(bucket.keep(input.key, copy, &writing)?);
        Ok(S3Response::new(CopyObjectOutput {
            copy_object_result: Some(CopyObjectResult {
                e_tag,
                last_modified,
                ..CopyObjectResult::default()
            }),
            ..CopyObjectOutput::default()
        }))
    }

    async fn create_multipart_upload(
        &self,
        request: S3Request<CreateMultipartUploadInput>,
    ) -> Answer<CreateMultipartUploadOutput> {
        known::only(&request, &["uploads"], &[known::SUMMED, known::DESCRIPTION])?;
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        listing::check_text("key", &input.key)?;
        Ok(S3Response::new(CreateMultipartUploadOutput {
            upload_id: Some(bucket.begin_upload(input.key.clone(), Description::of(&request.headers))),
            bucket: Some(input.bucket),
            key: Some(input.key),
            ..CreateMultipartUploadOutput::default()
        }))
    }

    async fn upload_part(&self, request: S3Request<UploadPartInput>) -> Answer<UploadPartOutput> {
        known::only(&request, &["partNumber", "uploadId"], &[known::DIGESTS])?;
        let digests = Digests::declared(&request)?;
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        // Everything that can be refused is refused before the body is taken in.
        bucket::check_part_number(input.part_number)?;
        bucket.upload(&input.upload_id, &input.key, |_| ())?;
        let part = bucket.receive(input.body, digests).await?;
        let (e_tag, checksum) = (part.e_tag(), part.checksum.clone());
        bucket.upload(&input.upload_id, &input.key, |upload| upload.parts.insert(input.part_number, part))?;
        Ok(S3Response::new(summed!(UploadPartOutput, e_tag, checksum)))
    }

    async fn upload_part_copy(
        &self,
        request: S3Request<UploadPartCopyInput>,
    ) -> Answer<UploadPartCopyOutput> {
        known::only(&request, &["partNumber", "uploadId"], &[known::SOURCE, &["x-amz-copy-source-range"]])?;
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        bucket::check_part_number(input.part_number)?;
        bucket.upload(&input.upload_id, &input.key, |_| ())?;
        let reading = reading!(
            input: copy_source_if_match, copy_source_if_none_match, copy_source_if_modified_since,
            copy_source_if_unmodified_since
        );
        let (_, source) = self.source(&input.copy_source, &reading)?;
        let part = bucket.part_of(&source, input.copy_source_range.as_deref()).await?;
        let e_tag = Some(part.e_tag());
        bucket.upload(&input.upload_id, &input.key, |upload| upload.parts.insert(input.part_number, part))?;
        let last_modified = Some(source.modified());
        Ok(S3Response::new(UploadPartCopyOutput {
            copy_part_result: Some(CopyPartResult { e_tag, last_modified, ..CopyPartResult::default() }),
            ..UploadPartCopyOutput::default()
        }))
    }

    async fn complete_multipart_upload(
        &self,
        request: S3Request<CompleteMultipartUploadInput>,
    ) -> Answer<CompleteMultipartUploadOutput> {
        known::only(&request, &["uploadId"], &[known::WRITING, known::SUMMED])?;
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        let writing = Writing::new(input.if_match, input.if_none_match)?;
        let wanted = input.multipart_upload.and_then(|upload| upload.parts).unwrap_or_default();
        let e_tag = match bucket.completed(&input.upload_id, &input.key) {
            // Whoever lost the answer asks again, and is told the same.
            Some(e_tag) => e_tag,
            None => bucket.complete(&input.upload_id, &input.key, &wanted, &writing)?,
        };
        Ok(S3Response::new(CompleteMultipartUploadOutput {
            bucket: Some(input.bucket),
            key: Some(input.key),
            e_tag: Some(e_tag),
            ..CompleteMultipartUploadOutput::default()
        }))
    }

    async fn abort_multipart_upload(
        &self,
        request: S3Request<AbortMultipartUploadInput>,
    ) -> Answer<AbortMultipartUploadOutput> {
        known::only(&request, &["uploadId"], &[])?;
        self.bucket(&request.input.bucket)?.end_upload(&request.input.upload_id, &request.input.key)?;
        Ok(S3Response::new(AbortMultipartUploadOutput::default()))
    }

    async fn list_objects_v2(&self, request: S3Request<ListObjectsV2Input>) -> Answer<ListObjectsV2Output> {
        known::only(&request, known::PAGES[0], &[])?;
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        // A token goes before `start-after`, which is of the first page alone.
        let token = input.continuation_token.as_deref().map(listing::after).transpose()?;
        let listing = bucket.list(&ListRequest {
            prefix: input.prefix.as_deref(),
            delimiter: input.delimiter.as_deref(),
            after: token.as_deref().or(input.start_after.as_deref()),
            keys_max: input.max_keys,
            encoding: input.encoding_type.as_ref(),
            has_owner: input.fetch_owner == Some(true),
        })?;
        let names = listing.names;
        Ok(S3Response::new(ListObjectsV2Output {
            key_count: i32::try_from(listing.contents.len() + listing.common_prefixes.len()).ok(),
            max_keys: Some(listing.keys_max),
            is_truncated: Some(listing.next.is_some()),
            next_continuation_token: listing.next.as_deref().map(listing::token),
            contents: Some(listing.contents),
            common_prefixes: Some(listing.common_prefixes),
            name: Some(input.bucket),
            prefix: Some(names.write(input.prefix.unwrap_or_default())),
            delimiter: input.delimiter.filter(|delimiter| !delimiter.is_empty()).map(|by| names.write(by)),
            start_after: input.start_after.map(|key| names.write(key)),
            encoding_type: names.encoding(),
            continuation_token: input.continuation_token,
            ..ListObjectsV2Output::default()
        }))
    }

    async fn list_objects(&self, request: S3Request<ListObjectsInput>) -> Answer<ListObjectsOutput> {
        known::only(&request, known::PAGES[1], &[])?;
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        let listing = bucket.list(&ListRequest {
            prefix: input.prefix.as_deref(),
            delimiter: input.delimiter.as_deref(),
            after: input.marker.as_deref().filter(|marker| !marker.is_empty()),
            keys_max: input.max_keys,
            encoding: input.encoding_type.as_ref(),
            has_owner: true,
        })?;
        let names = listing.names;
        // Without a delimiter the last key is the next marker, and S3 does not say it twice.
        let is_folded = input.delimiter.as_deref().is_some_and(|delimiter| !delimiter.is_empty());
        Ok(S3Response::new(ListObjectsOutput {
            max_keys: Some(listing.keys_max),
            is_truncated: Some(listing.next.is_some()),
            next_marker: listing.next.filter(|_| is_folded).map(|next| names.write(next)),
            contents: Some(listing.contents),
            common_prefixes: Some(listing.common_prefixes),
            name: Some(input.bucket),
            prefix: Some(names.write(input.prefix.unwrap_or_default())),
            delimiter: input.delimiter.filter(|_| is_folded).map(|delimiter| names.write(delimiter)),
            // There even where nothing was asked for: clients go on from it.
            marker: Some(names.write(input.marker.unwrap_or_default())),
            encoding_type: names.encoding(),
            ..ListObjectsOutput::default()
        }))
    }

    async fn delete_object(&self, request: S3Request<DeleteObjectInput>) -> Answer<DeleteObjectOutput> {
        known::only(&request, &[], &[&["if-match"]])?;
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        bucket.remove(&input.key, &Writing::of_match(input.if_match))?;
        Ok(S3Response::new(DeleteObjectOutput::default()))
    }

    async fn delete_objects(&self, request: S3Request<DeleteObjectsInput>) -> Answer<DeleteObjectsOutput> {
        known::only(&request, &["delete"], &[known::DIGESTS])?;
        digest::check_whole(&request)?;
        let input = request.input;
        let bucket = self.bucket(&input.bucket)?;
        if input.delete.objects.len() > DELETED_MAX {
            return Err(s3_error!(MalformedXML, "at most {DELETED_MAX} objects are deleted by one request"));
        }
        // All of them before the first is deleted: a request that is refused has done nothing.
        for wanted in &input.delete.objects {
            listing::check_text("key", &wanted.key)?;
        }
        let is_quiet = input.delete.quiet == Some(true);
        let (mut deleted, mut errors) = (Vec::new(), Vec::new());
        for wanted in input.delete.objects {
            let key = Some(wanted.key.clone());
            match bucket.remove_one(wanted) {
                Ok(()) if is_quiet => {}
                Ok(()) => deleted.push(DeletedObject { key, ..DeletedObject::default() }),
                Err(error) => errors.push(s3s::dto::Error {
                    key,
                    code: Some(error.code().as_str().to_owned()),
                    message: error.message().map(str::to_owned),
                    ..s3s::dto::Error::default()
                }),
            }
        }
        let (deleted, errors) = (Some(deleted), Some(errors));
        Ok(S3Response::new(DeleteObjectsOutput { deleted, errors, ..DeleteObjectsOutput::default() }))
    }

    async fn head_bucket(&self, request: S3Request<HeadBucketInput>) -> Answer<HeadBucketOutput> {
        known::only(&request, &[], &[])?;
        self.bucket(&request.input.bucket)?;
        Ok(S3Response::new(HeadBucketOutput::default()))
    }

    async fn create_bucket(&self, request: S3Request<CreateBucketInput>) -> Answer<CreateBucketOutput> {
        known::only(&request, &[], &[])?;
        let input = request.input;
        let configuration = input.create_bucket_configuration.unwrap_or_default();
        if configuration.bucket.is_some() || configuration.location.is_some() {
            return Err(s3_error!(NotImplemented, "a directory bucket; leave Bucket and Location out"));
        }
        let location = configuration.location_constraint.filter(|location| !location.as_str().is_empty());
        let path = format!("/{}", input.bucket);
        self.create(input.bucket, location)?;
        Ok(S3Response::new(CreateBucketOutput { location: Some(path) }))
    }

    async fn delete_bucket(&self, request: S3Request<DeleteBucketInput>) -> Answer<DeleteBucketOutput> {
        known::only(&request, &[], &[])?;
        self.delete(&request.input.bucket)?;
        Ok(S3Response::with_status(DeleteBucketOutput::default(), StatusCode::NO_CONTENT))
    }

    async fn list_buckets(&self, request: S3Request<ListBucketsInput>) -> Answer<ListBucketsOutput> {
        known::only(&request, &["continuation-token", "max-buckets", "prefix"], &[])?;
        let input = request.input;
        let after = input.continuation_token.as_deref().map(listing::after).transpose()?;
        let prefix = input.prefix.as_deref().unwrap_or_default();
        let (buckets, next) = self.page(prefix, after.as_deref(), input.max_buckets)?;
        Ok(S3Response::new(ListBucketsOutput {
            buckets: Some(buckets),
            continuation_token: next.as_deref().map(listing::token),
            owner: Some(listing::owner()),
            prefix: input.prefix,
        }))
    }

    async fn get_bucket_location(
        &self,
        request: S3Request<GetBucketLocationInput>,
    ) -> Answer<GetBucketLocationOutput> {
        known::only(&request, &["location"], &[])?;
        let location_constraint = self.bucket(&request.input.bucket)?.location.clone();
        Ok(S3Response::new(GetBucketLocationOutput { location_constraint }))
    }
}

impl Bucket {
    /// Makes an object of the parts of an upload that are `wanted`, and ends the upload.
    fn complete(&self, id: &str, key: &str, wanted: &[CompletedPart], writing: &Writing) -> S3Result<ETag> {
        self.may_write(key, writing)?;
        let numbers: Vec<i32> = wanted.iter().filter_map(|part| part.part_number).collect();
        if numbers.is_empty() || !numbers.is_sorted_by(|before, after| before < after) {
            return Err(s3_error!(InvalidPartOrder));
        }
        let is_there = |upload: &mut bucket::Upload| {
            wanted.iter().all(|part| {
                let kept = part.part_number.and_then(|number| upload.parts.get(&number));
                kept.is_some_and(|kept| kept.is_as_listed(part))
            })
        };
        // Before the upload is ended: one that is refused stays under way, as in S3.
        if !self.upload(id, key, is_there)? {
            return Err(s3_error!(InvalidPart));
        }
        let mut upload = self.end_upload(id, key)?;
        let parts = numbers.iter().filter_map(|number| upload.parts.remove(number)).collect();
        let object = Object::of_parts(self.empty(), parts, upload.description, id.to_owned());
        self.keep(key.to_owned(), object, writing)
    }

    /// Removes one of many objects. Of its conditions, a bucket that is no directory knows the ETag alone.
    fn remove_one(&self, wanted: ObjectIdentifier) -> S3Result<()> {
        if wanted.version_id.is_some() || wanted.size.is_some() || wanted.last_modified_time.is_some() {
            return Err(s3_error!(NotImplemented, "a deletion by version, size or time; leave them out"));
        }
        self.remove(&wanted.key, &Writing::of_match(wanted.e_tag.map(ETagCondition::ETag)))
    }
}
