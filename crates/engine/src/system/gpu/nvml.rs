//! The few functions of NVIDIA's management library (NVML) that are called, by declarations of our own, and all that is unsafe in
//! calling them.
//!
//! The layouts are those of `nvml.h`, which stay as they are from version to version of the driver.

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_uint, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt as _;
use std::ptr;

/// `NVML_SUCCESS`.
const SUCCESS: c_int = 0;
/// `NVML_GPU_UTILIZATION_SAMPLES`: share of time in which a kernel ran.
const UTILIZATION: c_int = 1;
/// `NVML_VALUE_TYPE_UNSIGNED_INT`.
const TYPE_UNSIGNED: c_int = 1;
/// `NVML_VALUE_TYPE_UNSIGNED_LONG` and `_LONG_LONG`, which are one on 64 bits.
const TYPES_LONG: [c_int; 2] = [2, 3];
/// Characters of a name, with the one that ends it (`NVML_DEVICE_NAME_V2_BUFFER_SIZE`).
const NAME_BYTES: usize = 96;
/// Samples of one reading at most. The library keeps some 120.
const SAMPLES_MAX: usize = 4096;

/// `nvmlDevice_t`.
pub(super) type Device = *mut c_void;

/// `nvmlValue_t`.
#[derive(Clone, Copy)]
#[repr(C)]
union Value {
    unsigned: c_uint,
    long: u64,
}

/// `nvmlSample_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Sample {
    at_us: u64,
    value: Value,
}

/// `nvmlFieldValue_t`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Field {
    id: c_uint,
    scope: c_uint,
    at_us: i64,
    latency_us: i64,
    kind: c_int,
    returned: c_int,
    value: Value,
}

const _: () = assert!(size_of::<Sample>() == 16 && size_of::<Field>() == 40);
const _: () = assert!(std::mem::offset_of!(Field, value) == 32);

type Init = unsafe extern "C" fn() -> c_int;
type Count = unsafe extern "C" fn(*mut c_uint) -> c_int;
type ByIndex = unsafe extern "C" fn(c_uint, *mut Device) -> c_int;
type Name = unsafe extern "C" fn(Device, *mut c_char, c_uint) -> c_int;
type Samples = unsafe extern "C" fn(Device, c_int, u64, *mut c_int, *mut c_uint, *mut Sample) -> c_int;
type FieldValues = unsafe extern "C" fn(Device, c_int, *mut Field) -> c_int;

/// The library, open as long as this process runs.
pub(super) struct Nvml {
    count: Count,
    by_index: ByIndex,
    name: Name,
    samples: Samples,
    field_values: FieldValues,
}

/// Looks a function up; `None` where the library lacks it.
macro_rules! function {
    ($handle:expr, $name:literal, $kind:ty) => {{
        // SAFETY: the handle is that of an open library, and the name ends with a zero.
        let found = unsafe { libc::dlsym($handle, $name.as_ptr()) };
        if found.is_null() {
            return None;
        }
        // SAFETY: `nvml.h` gives the function of this name this type.
        unsafe { std::mem::transmute::<*mut c_void, $kind>(found) }
    }};
}

impl Nvml {
    /// Opens the library, a path or a name that the loader finds; `None` where it is not there, or finds no driver.
    pub(super) fn open(library: &OsStr) -> Option<Self> {
        let path = CString::new(library.as_bytes()).ok()?;
        // SAFETY: the path ends with a zero; a library's constructors run, as in any program that links it.
        let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return None;
        }
        let init = function!(handle, c"nvmlInit_v2", Init);
        let nvml = Self {
            count: function!(handle, c"nvmlDeviceGetCount_v2", Count),
            by_index: function!(handle, c"nvmlDeviceGetHandleByIndex_v2", ByIndex),
            name: function!(handle, c"nvmlDeviceGetName", Name),
            samples: function!(handle, c"nvmlDeviceGetSamples", Samples),
            field_values: function!(handle, c"nvmlDeviceGetFieldValues", FieldValues),
        };
        // SAFETY: it takes nothing, and may be called by any thread.
        (unsafe { init() } == SUCCESS).then_some(nvml)
    }

    /// The devices that can be asked.
    pub(super) fn devices(&self) -> Vec<(u32, Device)> {
        let mut count = 0;
        // SAFETY: the library was initialised, and the number may be written.
        if unsafe { (self.count)(&raw mut count) } != SUCCESS {
            return Vec::new();
        }
        let device = |index| {
            let mut device = ptr::null_mut();
            // SAFETY: as above; a handle stays good while the library is open.
            let returned = unsafe { (self.by_index)(index, &raw mut device) };
            (returned == SUCCESS).then_some((index, device))
        };
        (0..count).filter_map(device).collect()
    }

    /// What a device is called.
    pub(super) fn name(&self, device: Device) -> Option<String> {
        let mut name = [0; NAME_BYTES];
        // SAFETY: the device is one of the library's, and the name has as much room as is said.
        let returned = unsafe { (self.name)(device, name.as_mut_ptr(), NAME_BYTES as c_uint) };
        // A library that forgot to end it would be read beyond its end.
        name[NAME_BYTES - 1] = 0;
        // SAFETY: it ends with a zero within the array.
        let words = unsafe { CStr::from_ptr(name.as_ptr()) };
        (returned == SUCCESS).then(|| words.to_string_lossy().into_owned())
    }

    /// Samples of how busy a device was, later than `seen_us`: when, in the library's time, and percent. Empty where it has none.
    pub(super) fn utilization(&self, device: Device, seen_us: u64) -> Vec<(u64, u32)> {
        let (mut kind, mut count) = (0, 0);
        // SAFETY: without room for samples it only counts them.
        let counted = unsafe {
            (self.samples)(device, UTILIZATION, seen_us, &raw mut kind, &raw mut count, ptr::null_mut())
        };
        if counted != SUCCESS || count == 0 {
            return Vec::new();
        }
        let mut samples = vec![MaybeUninit::<Sample>::zeroed(); (count as usize).min(SAMPLES_MAX)];
        let mut found = samples.len() as c_uint;
        // SAFETY: there is room for as many samples as is said.
        let returned = unsafe {
            (self.samples)(
                device,
                UTILIZATION,
                seen_us,
                &raw mut kind,
                &raw mut found,
                samples.as_mut_ptr().cast(),
            )
        };
        if returned != SUCCESS || kind != TYPE_UNSIGNED {
            return Vec::new();
        }
        // SAFETY: all bytes were zero before the library wrote, and any bytes are a sample of numbers.
        let samples = samples.iter().take(found as usize).map(|sample| unsafe { sample.assume_init() });
        // SAFETY: the library said that values are of this type.
        samples.map(|sample| (sample.at_us, unsafe { sample.value.unsigned })).collect()
    }

    /// Counters of a device, by the numbers of their fields; `None` for one that it does not have, or not with 64 bits.
    pub(super) fn counters<const N: usize>(&self, device: Device, ids: [u32; N]) -> [Option<u64>; N] {
        let value = Value { long: 0 };
        let mut fields =
            ids.map(|id| Field { id, scope: 0, at_us: 0, latency_us: 0, kind: -1, returned: -1, value });
        let count = c_int::try_from(N).unwrap_or(c_int::MAX);
        // SAFETY: there are as many fields as is said, each with its number.
        let returned = unsafe { (self.field_values)(device, count, fields.as_mut_ptr()) };
        fields.map(|field| {
            let is_known =
                returned == SUCCESS && field.returned == SUCCESS && TYPES_LONG.contains(&field.kind);
            // SAFETY: all of it was written before, and any bytes are a number.
            let bytes = unsafe { field.value.long };
            is_known.then_some(bytes)
        })
    }
}
