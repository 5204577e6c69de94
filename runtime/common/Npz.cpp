//===- Npz.cpp - Archives of NumPy arrays ---------------------------------===//
//
// Part of Echo, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Npz.h"

#include "Error.h"
#include "Files.h"
#include "Npy.h"
#include "OutputFile.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <zip.h>

using namespace echo;

namespace {

/// The archive's comment, in front of the number of steps.
constexpr std::string_view kStepsComment = "Echo checkpoint, steps: ";

[[noreturn]] void throwZip(const std::string &message, const char *reason) {
  throw Error(ECHO_IO_ERROR, message + ": " + reason);
}

[[noreturn]] void throwZip(const std::string &message, zip_error_t &error) {
  std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  throwZip(message, reason.c_str());
}

/// Lets libzip write a new archive through an OutputFile. It lives as long as
/// the archive.
class ZipOutput {
public:
  explicit ZipOutput(OutputFile &file) : file(file) { zip_error_init(&error); }
  ~ZipOutput() { zip_error_fini(&error); }
  ZipOutput(const ZipOutput &) = delete;
  ZipOutput &operator=(const ZipOutput &) = delete;

  /// What zip_source_function_create calls.
  static zip_int64_t handle(void *output, void *data, zip_uint64_t size,
                            zip_source_cmd_t command) {
    return static_cast<ZipOutput *>(output)->handle(data, size, command);
  }

private:
  zip_int64_t handle(void *data, zip_uint64_t size, zip_source_cmd_t command);
  zip_int64_t seek(void *data, zip_uint64_t size);
  zip_int64_t fail(int code, int system) {
    zip_error_set(&error, code, system);
    return -1;
  }

  OutputFile &file;
  zip_error_t error;
};

zip_int64_t ZipOutput::seek(void *data, zip_uint64_t size) {
  auto *place = ZIP_SOURCE_GET_ARGS(zip_source_args_seek_t, data, size, &error);
  if (!place)
    return -1;
  int64_t base = 0;
  if (place->whence == SEEK_CUR)
    base = file.tell();
  if (place->whence == SEEK_END || base < 0 || base + place->offset < 0)
    return fail(ZIP_ER_SEEK, EINVAL);
  return file.seek(base + place->offset) ? 0
                                         : fail(ZIP_ER_SEEK, file.errorCode());
}

zip_int64_t ZipOutput::handle(void *data, zip_uint64_t size,
                              zip_source_cmd_t command) {
  switch (command) {
  case ZIP_SOURCE_SUPPORTS:
    return ZIP_SOURCE_SUPPORTS_WRITABLE;
  case ZIP_SOURCE_ERROR:
    return zip_error_to_data(&error, data, size);
  case ZIP_SOURCE_STAT:
    return fail(ZIP_ER_READ, ENOENT); // a new archive
  case ZIP_SOURCE_BEGIN_WRITE:
    return file.seek(0) ? 0 : fail(ZIP_ER_SEEK, file.errorCode());
  case ZIP_SOURCE_WRITE:
    if (!file.write({static_cast<const char *>(data), size}))
      return fail(ZIP_ER_WRITE, file.errorCode());
    return size;
  case ZIP_SOURCE_SEEK_WRITE:
    return seek(data, size);
  case ZIP_SOURCE_TELL_WRITE:
    return file.tell();
  case ZIP_SOURCE_COMMIT_WRITE: // the OutputFile is committed by its owner
  case ZIP_SOURCE_ROLLBACK_WRITE:
  case ZIP_SOURCE_FREE:
    return 0;
  default:
    return fail(ZIP_ER_OPNOTSUPP, 0);
  }
}

/// An open archive that is dropped without writing unless it was closed.
class ZipFile {
public:
  /// Opens an archive to read.
  ZipFile(const std::string &path, const std::string &message) {
    int code = 0;
    zip = zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code);
    if (zip)
      return;
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    throwZip(message, error);
  }
  /// Makes a new archive.
  ZipFile(ZipOutput &output, const std::string &message) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t *source =
        zip_source_function_create(ZipOutput::handle, &output, &error);
    if (source)
      zip = zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error);
    if (!zip) {
      zip_source_free(source);
      throwZip(message, error);
    }
    zip_error_fini(&error);
  }
  ~ZipFile() {
    if (zip)
      zip_discard(zip);
  }
  ZipFile(const ZipFile &) = delete;
  ZipFile &operator=(const ZipFile &) = delete;

  /// Writes the archive.
  void close(const std::string &message) {
    if (zip_close(zip) != 0)
      throwZip(message, zip_strerror(zip));
    zip = nullptr;
  }
  zip_t *get() const { return zip; }

private:
  zip_t *zip = nullptr;
};

void addEntry(zip_t *zip, const NpzEntry &entry, const std::string &header,
              const std::string &message) {
  zip_buffer_fragment_t fragments[2] = {
      {reinterpret_cast<zip_uint8_t *>(const_cast<char *>(header.data())),
       header.size()},
      {static_cast<zip_uint8_t *>(const_cast<void *>(entry.data)),
       entry.tensor->bytes}};
  zip_uint64_t count = entry.tensor->bytes == 0 ? 1 : 2;
  zip_source_t *source = zip_source_buffer_fragment(zip, fragments, count, 0);
  if (!source)
    throwZip(message, zip_strerror(zip));
  std::string name = entry.tensor->name + ".npy";
  zip_int64_t index = zip_file_add(zip, name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    throwZip(message + ": array '" + entry.tensor->name + "'",
             zip_strerror(zip));
  }
  // 1980-01-01, the first day of the format: files don't differ by the clock.
  constexpr zip_uint16_t kFirstDay = (1 << 5) | 1;
  if (zip_set_file_compression(zip, index, ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(zip, index, 0, kFirstDay, 0) != 0)
    throwZip(message, zip_strerror(zip));
}

} // namespace

void echo::writeNpz(const std::string &path,
                    const std::vector<NpzEntry> &entries, uint64_t steps) {
  std::string message = "can't write '" + path + "'";
  std::string comment =
      std::string(kStepsComment) + std::to_string(steps);
  // The headers must live until the archive is closed.
  std::vector<std::string> headers;
  headers.reserve(entries.size());
  if (entries.empty()) {
    // libzip removes an empty archive; the end record alone is a valid one.
    std::string end = {'P', 'K', 5, 6};
    end.resize(22);
    end[20] = static_cast<char>(comment.size());
    writeFile(path, end, comment);
    return;
  }
  OutputFile file(path);
  if (!file.error().empty())
    throw Error(ECHO_IO_ERROR, file.error());
  ZipOutput output(file);
  ZipFile zip(output, message);
  for (const NpzEntry &entry : entries) {
    headers.push_back(makeNpyHeader(entry.tensor->type, entry.tensor->shape));
    addEntry(zip.get(), entry, headers.back(), message);
  }
  if (zip_set_archive_comment(zip.get(), comment.data(), comment.size()) != 0)
    throwZip(message, zip_strerror(zip.get()));
  zip.close(message);
  if (!file.commit())
    throw Error(ECHO_IO_ERROR, file.error());
}

struct NpzReader::Archive {
  Archive(const std::string &path) : zip(path, "can't read '" + path + "'") {}
  ZipFile zip;
};

NpzReader::NpzReader(const std::string &path)
    : archive(new Archive(path)), path(path) {}

NpzReader::~NpzReader() = default;

bool NpzReader::has(const std::string &name) const {
  return zip_name_locate(archive->zip.get(), (name + ".npy").c_str(), 0) >= 0;
}

uint64_t NpzReader::steps() const {
  int length = 0;
  const char *comment =
      zip_get_archive_comment(archive->zip.get(), &length, ZIP_FL_ENC_RAW);
  std::string_view text(comment ? comment : "", comment ? length : 0);
  if (text.substr(0, kStepsComment.size()) != kStepsComment)
    return 0;
  text.remove_prefix(kStepsComment.size());
  uint64_t steps = 0;
  auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), steps);
  return code == std::errc() && end == text.data() + text.size() ? steps : 0;
}

std::string NpzReader::read(const Tensor &tensor) const {
  zip_t *zip = archive->zip.get();
  std::string entry = tensor.name + ".npy";
  std::string place = path + ": array '" + tensor.name + "': ";
  zip_int64_t index = zip_name_locate(zip, entry.c_str(), 0);
  if (index < 0)
    throwInvalid(place + "is missing; expected " +
                 describe(tensor.type, tensor.shape));
  zip_stat_t status;
  if (zip_stat_index(zip, index, 0, &status) != 0)
    throwZip(place + "can't read", zip_strerror(zip));
  // Before memory is taken: no valid entry is larger than this.
  if (!(status.valid & ZIP_STAT_SIZE) ||
      status.size > tensor.bytes + kMaxNpyHeader)
    throwInvalid(place + "expected " + describe(tensor.type, tensor.shape) +
                 ", found an entry of " + std::to_string(status.size) +
                 " bytes");
  zip_file_t *file = zip_fopen_index(zip, index, 0);
  if (!file)
    throwZip(place + "can't read", zip_strerror(zip));
  std::unique_ptr<zip_file_t, int (*)(zip_file_t *)> closer(file, zip_fclose);
  std::string content(status.size, '\0');
  size_t done = 0;
  while (done < content.size()) {
    zip_int64_t count =
        zip_fread(file, content.data() + done, content.size() - done);
    if (count < 0)
      throwZip(place + "can't read", zip_file_strerror(file));
    if (count == 0)
      throwZip(place + "can't read", "truncated");
    done += count;
  }
  // The checksum is compared at the end of the entry.
  char past;
  if (zip_fread(file, &past, 1) != 0)
    throwZip(place + "can't read", zip_file_strerror(file));
  std::string_view data = readNpy(content, place, tensor.type, tensor.shape);
  content.erase(0, data.data() - content.data());
  return content;
}
