//! Where the tables of a call live.

use super::device::Device;
use crate::error::Error;
use crate::kernel::fail;

/// What lives somewhere: what messages call it, and the device, if that is not the host.
type Place<'a> = (&'static str, Option<&'a Device>);

/// The device on which everything lives, and the first thing there; `None` if that is the host.
///
/// # Errors
/// [`Error::Devices`] if two live in different places.
pub(super) fn common<'a>(
    function: &'static str,
    places: impl IntoIterator<Item = Place<'a>>,
) -> Result<Option<(&'static str, &'a Device)>, Error> {
    let mut places = places.into_iter();
    let Some((first, device)) = places.next() else {
        return Ok(None);
    };
    match places.find(|(_, other)| *other != device) {
        Some((other, its_device)) => Err(Error::Devices {
            function,
            left: first,
            left_device: name(device),
            right: other,
            right_device: name(its_device),
        }),
        None => Ok(device.map(|device| (first, device))),
    }
}

fn name(device: Option<&Device>) -> String {
    device.map_or_else(|| "the host".to_owned(), Device::to_string)
}

/// Compares where the tables of a function live, which has code for the host alone, for a reason.
///
/// # Errors
/// [`Error::OnDevice`] if they live on a device, [`Error::Devices`] if two live in different places.
pub fn compare_places(
    function: &'static str,
    tables: &[Place<'_>],
    reason: &'static str,
) -> Result<(), Error> {
    match common(function, tables.iter().copied())? {
        None => Ok(()),
        Some((parameter, device)) => Err(Error::OnDevice {
            function,
            parameter,
            device: device.to_string(),
            reason: reason.to_owned(),
        }),
    }
}

/// As [`compare_places`].
///
/// # Panics
/// With the error in words.
#[track_caller]
pub fn check_places(function: &'static str, tables: &[Place<'_>], reason: &'static str) {
    if let Err(error) = compare_places(function, tables, reason) {
        fail(&error);
    }
}

/// Compares where the tables of a function live, which runs where they are.
///
/// # Errors
/// [`Error::Devices`] if two live in different places.
pub fn compare_devices(function: &'static str, tables: &[Place<'_>]) -> Result<(), Error> {
    common(function, tables.iter().copied()).map(|_| ())
}

/// As [`compare_devices`].
///
/// # Panics
/// With the error in words.
#[track_caller]
pub fn check_devices(function: &'static str, tables: &[Place<'_>]) {
    if let Err(error) = compare_devices(function, tables) {
        fail(&error);
    }
}

/// The device on which the first of the tables lives, as all others do.
pub fn device_of(tables: &[Option<&Device>]) -> Option<Device> {
    tables.first().copied().flatten().cloned()
}
